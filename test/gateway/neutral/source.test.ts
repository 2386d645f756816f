import assert from 'node:assert/strict';
import { base64Source, fileSourceOf, plainTextIn, sourceOf, urlOf } from '#gateway/neutral/source.ts';

const png = 'iVBORw0KGgoAAAANSUhEUg==';
const jpeg = '/9j/4AAQSkZJRgABAQ==';
const gif = 'R0lGODlhAQABAAAAACw=';
const webp = Buffer.from('RIFF\x24\x01\x00\x00WEBPVP8 ', 'latin1').toString('base64');
const pdf = Buffer.from('%PDF-1.7\n').toString('base64');
const notes = Buffer.from('Wir öffnen um neun.').toString('base64');
const bytes = Buffer.from([0x50, 0x4b, 0x03, 0x04, 0x00, 0xff]).toString('base64');

const long = Buffer.alloc(100, 0xfb).toString('base64');
const inLines = (data: string) => data.replaceAll(/.{16}/g, '$&\n');
const words = 'a picture of a cat on a mat in front of a fire in the old house of my aunt';

const base64 = (mediaType: string, data: string) => ({ kind: 'base64', mediaType, data });

describe('sourceOf', () => {
  for (const [given, url, expected] of [
    ['an address', 'https://example.com/a.png', { kind: 'url', url: 'https://example.com/a.png' }],
    ['an address without a scheme', 'example.com/a', { kind: 'url', url: 'example.com/a' }],
    ['a data URL', `data:image/png;base64,${png}`, base64('image/png', png)],
    ['a data URL in capitals', `DATA:IMAGE/PNG;BASE64,${png}`, base64('image/png', png)],
    ['a data URL with parameters', `data:image/webp;name=a.webp;charset=x;base64,${webp}`, base64('image/webp', webp)],
    ['a data URL without a type', `data:;base64,${png}`, base64('image/png', png)],
    ['image/jpg', `data:image/jpg;base64,${bytes}`, base64('image/jpeg', bytes)],
    ['the type of another picture', `data:image/png;base64,${jpeg}`, base64('image/jpeg', jpeg)],
    ['an unknown type of a picture', `data:image;base64,${gif}`, base64('image/gif', gif)],
    ['a PDF as any bytes', `data:application/octet-stream;base64,${pdf}`, base64('application/pdf', pdf)],
    ['Base64 of a picture alone', png, base64('image/png', png)],
    ['Base64 of a PDF alone', pdf, base64('application/pdf', pdf)],
    ['Base64 of other bytes alone', long, base64('application/octet-stream', long)],
    ['Base64 in lines', inLines(long), base64('application/octet-stream', long)],
    ['Base64 of a picture in lines', `${inLines(png)}\r\n`, base64('image/png', png)],
    ['a data URL in lines', `data:image/png;base64,\n${inLines(png)}`, base64('image/png', png)],
    ['the id of a file', 'file-abc123', { kind: 'url', url: 'file-abc123' }],
    ['words', words, { kind: 'url', url: words }],
    ['a text that is only escaped', 'data:text/plain,Hi%20there', base64('text/plain', 'SGkgdGhlcmU=')],
    ['a text without a type', 'data:,Hi%20there', base64('text/plain', 'SGkgdGhlcmU=')],
    ['a text with a wrong escape', 'data:,100%', { kind: 'url', url: 'data:,100%' }],
  ] as const)
    it(`given ${given} when it is read then it is ${expected.kind}`, () => {
      assert.deepEqual(sourceOf(url), expected);
    });

  it('given data that was taken out when it is read then its beginning is enough', () => {
    const cut = `${'A'.repeat(256)}<0123456789abcdef:0>`;
    assert.deepEqual(sourceOf(`data:image/jpg;base64,${cut}`), base64('image/jpeg', cut));
  });

  it('given the data of a file when it is read then it is Base64, however short it is', () => {
    assert.deepEqual(fileSourceOf(bytes), base64('application/octet-stream', bytes));
    assert.deepEqual(fileSourceOf(`${notes}\n`), base64('application/octet-stream', notes));
    assert.deepEqual(fileSourceOf('https://example.com/a').kind, 'url');
  });

  it('given a source when its URL is written then it is read as the same source', () => {
    for (const url of ['https://example.com/a.png', `data:image/png;base64,${png}`])
      assert.deepEqual(urlOf(sourceOf(url)), url);
  });
});

describe('base64Source', () => {
  for (const [said, expected] of [
    ['image/JPG', 'image/jpeg'],
    ['image/jpeg; charset=binary', 'image/jpeg'],
    ['image/pjpeg', 'image/jpeg'],
    ['application/x-pdf', 'application/pdf'],
    ['Text/Markdown;charset=utf-8', 'text/markdown'],
    [null, 'application/octet-stream'],
  ] as const)
    it(`given ${said} when bytes say nothing else then the type is ${expected}`, () => {
      assert.equal(base64Source(said, bytes).mediaType, expected);
    });
});

describe('plainTextIn', () => {
  for (const type of ['text/plain', 'text/markdown', 'text/csv', 'application/json', 'application/geo+json', null])
    it(`given ${type} when it is UTF-8 then its text is found`, () => {
      assert.equal(plainTextIn(base64Source(type, notes)), 'Wir öffnen um neun.');
    });

  it('given a mark of the byte order when the text is found then it is left out', () => {
    assert.equal(plainTextIn(base64Source('text/plain', Buffer.from('\uFEFFhi').toString('base64'))), 'hi');
  });

  for (const [given, source] of [
    ['another type', base64Source('application/vnd.ms-excel', notes)],
    ['a PDF', base64Source(null, pdf)],
    ['bytes that are no UTF-8', base64Source('text/plain', bytes)],
    ['data that is no Base64', base64Source('text/plain', 'Wir öffnen')],
    ['data that was taken out', base64Source('text/plain', `${notes}<00:1>`)],
  ] as const)
    it(`given ${given} when a text is looked for then there is none`, () => {
      assert.equal(plainTextIn(source), null);
    });

  it('given 8 MiB of Base64 in lines when a text is looked for then it is found', () => {
    const data = Buffer.alloc(6 * 1024 * 1024, 'x')
      .toString('base64')
      .replaceAll(/.{76}/g, '$&\n');
    assert.equal(plainTextIn(base64Source('text/plain', data))?.length, 6 * 1024 * 1024);
  });

  it('given 8 MiB of Base64 when a text is looked for then it is found', () => {
    const long = Buffer.alloc(6 * 1024 * 1024, 'x').toString('base64');
    assert.equal(plainTextIn(base64Source('text/plain', long))?.length, 6 * 1024 * 1024);
  });
});
