import assert from 'node:assert/strict';
import fc from 'fast-check';
import { boundaryOf, type MultipartFault, MultipartScanner, type TakeFileContent } from '#exchange/multipart.ts';
import { itInRounds } from '#test/support/run/long.ts';

const boundary = '--odd(boundary)';

interface Written {
  readonly name: string;
  readonly filename: string | null;
  readonly content: Buffer;
}

const content = fc.oneof(
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  fc
    .array(fc.constantFrom('\r\n', '--', boundary, `\r\n--${boundary.slice(0, -1)}`, '\r', '\n', 'x'), { maxLength: 8 })
    .map((pieces) => Buffer.from(pieces.join('')))
    .filter((bytes) => !/[\r\n]----odd\(boundary\)/.test(`\n${bytes.toString()}`)),
);
const part = fc.record(
  {
    name: fc.constantFrom('model', 'file', 'timestamp_granularities[]', 'Grüße', 'a"b'),
    filename: fc.option(fc.constantFrom('a.mp3', 'a; name="model".wav', '')),
    content,
  },
  { noNullPrototype: true },
);

function write(parts: ReadonlyArray<Written>): Buffer {
  const quoted = (text: string) => `"${text.replaceAll('"', '%22')}"`;
  return Buffer.concat([
    ...parts.flatMap(({ name, filename, content: bytes }) => [
      Buffer.from(
        `--${boundary}\r\nContent-Type: x/y\r\ncontent-disposition: form-data; name=${quoted(name)}${
          filename === null ? '' : `; filename=${quoted(filename)}`
        }\r\n\r\n`,
      ),
      bytes,
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\nepilogue`),
  ]);
}

function scan(pieces: ReadonlyArray<Buffer>, takeFileContent?: TakeFileContent): MultipartScanner {
  const scanner = new MultipartScanner(boundary, takeFileContent);
  for (const piece of pieces) scanner.push(piece);
  scanner.finish();
  return scanner;
}

function cut(bytes: Buffer, places: ReadonlyArray<number>): ReadonlyArray<Buffer> {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index] ?? 0, end));
}

describe('MultipartScanner', () => {
  itInRounds('reads a multipart body the same wherever its bytes are cut', { few: 200, many: 5_000 }, (numRuns) => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), fc.array(fc.nat(), { maxLength: 20 }), (parts, places) => {
        const body = write(parts);
        const taken: Buffer[] = [];
        const scanner = scan(cut(body, places), (_, bytes) => taken.push(Buffer.from(bytes)));
        assert.equal(scanner.fault, null);
        const files = parts.filter(({ filename }) => filename !== null);
        assert.deepEqual(Buffer.concat(taken), Buffer.concat(files.map(({ content: bytes }) => bytes)));
        assert.deepEqual(
          scanner.parts.map(({ name, filename, contentStart, end }) => ({
            name,
            filename,
            content: body.subarray(contentStart, end),
          })),
          parts,
        );
        for (const { filename, contentType, text, start, contentStart, end } of scanner.parts) {
          assert.equal(contentType, 'x/y');
          assert.equal(text, filename === null ? body.toString('utf8', contentStart, end) : null);
          assert.match(body.toString('latin1', start, contentStart), /^Content-Type: x\/y\r\n/);
        }
      }),
      { numRuns },
    );
  });

  it('reads a multipart body byte by byte, with a preamble and white space after boundaries', () => {
    const body = Buffer.from(
      `preamble\r\n--${boundary}  \r\nContent-Disposition: form-data; name=model\r\n\r\n\r\n--${boundary}--`,
    );
    const scanner = scan([...body].map((byte) => Buffer.from([byte])));
    assert.equal(scanner.fault, null);
    assert.deepEqual(
      scanner.parts.map(({ name, text }) => [name, text]),
      [['model', '']],
    );
  });

  it('passes on no piece of a file that is empty', () => {
    const empty = { name: 'file', filename: '', content: Buffer.alloc(0) };
    const taken: Buffer[] = [];
    for (const size of [1, 1_000]) {
      const body = write([empty, empty]);
      const pieces = Array.from({ length: Math.ceil(body.length / size) }, (_, at) =>
        body.subarray(at * size, (at + 1) * size),
      );
      assert.equal(scan(pieces, (_, bytes) => taken.push(bytes)).parts.length, 2);
    }
    assert.deepEqual(taken, []);
  });

  it('reports what is wrong with a multipart body', () => {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\n`;
    const faults: ReadonlyArray<[string, string]> = [
      ['', 'ended-early'],
      ['no boundary at all', 'ended-early'],
      [`${head}text`, 'ended-early'],
      [`--${boundary}\r\nContent-Type: text/plain\r\n\r\nx\r\n--${boundary}--`, 'malformed'],
      [`--${boundary}x\r\n`, 'malformed'],
      [`--${boundary}\r\n${'x'.repeat(20_000)}`, 'malformed'],
      [`${head}${'x'.repeat(1_100_000)}`, 'text-too-long'],
      [`${`${head}\r\n`.repeat(1_001)}--${boundary}--`, 'too-many-parts'],
    ];
    for (const [body, fault] of faults) assert.equal(scan([Buffer.from(body)]).fault, fault, body.slice(0, 80));
  });

  it('refuses a multipart body in which another reader could find other parts', () => {
    const disposition = (name: string) => `Content-Disposition: form-data; name="${name}"`;
    const part = (headers: string, text = 'x') => `--${boundary}\r\n${headers}\r\n\r\n${text}\r\n`;
    const end = `--${boundary}--\r\n`;
    const hidden = `--${boundary}\r\n${disposition('model')}\r\n\r\ngpt-9\r\n`;
    const bodies: ReadonlyArray<[string, MultipartFault, string | null]> = [
      [part(`${disposition('a')}\r\ncontent-disposition : form-data; name="model"`) + end, 'ambiguous-part', 'a'],
      [part(`${disposition('a')}\nContent-Disposition: form-data; name="model"`) + end, 'ambiguous-part', 'a'],
      [part(`Content-Type: text/plain\rContent-Disposition: form-data; name="a"`) + end, 'ambiguous-part', null],
      [part(`${disposition('a')}; name="model"`) + end, 'ambiguous-part', 'a'],
      [part(`${disposition('a')}; name*=utf-8''model`) + end, 'ambiguous-part', 'a'],
      [part(`${disposition('a')}\r\n ; name="model"`) + end, 'ambiguous-part', 'a'],
      [part(disposition('a'), `x\n${hidden}`) + end, 'malformed', 'a'],
      [part(disposition('a'), `x\r${hidden}`) + end, 'malformed', 'a'],
      [part(disposition('a'), hidden) + end, 'malformed', 'a'],
      [`x\n${hidden}${part(disposition('a'))}${end}`, 'malformed', null],
      [part(disposition('a')) + end + hidden + end, 'malformed', null],
      [`${part(disposition('a')) + end}x\n${hidden}${end}`, 'malformed', null],
    ];
    for (const [body, fault, name] of bodies) {
      for (const pieces of [[Buffer.from(body)], [...Buffer.from(body)].map((byte) => Buffer.from([byte]))]) {
        const scanner = scan(pieces);
        assert.deepEqual([scanner.fault, scanner.faultyPart], [fault, name], body);
      }
    }
  });

  it('accepts the boundary within a line of a multipart body', () => {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\n`;
    const scanner = scan([Buffer.from(`a--${boundary}\r\n${head}x--${boundary}\r\n\r\n--${boundary}--`)]);
    assert.equal(scanner.fault, null);
    assert.deepEqual(
      scanner.parts.map(({ text }) => text),
      [`x--${boundary}\r\n`],
    );
  });

  it('never throws on any multipart body', () => {
    fc.assert(fc.property(fc.array(fc.uint8Array()), (pieces) => void scan(pieces.map((piece) => Buffer.from(piece)))));
  });

  it('reads the boundary from the content type', () => {
    const types: ReadonlyArray<[string | undefined, string | null]> = [
      ['multipart/form-data; boundary=abc', 'abc'],
      ['Multipart/Form-Data; charset=utf-8; Boundary="a b"', 'a b'],
      ['multipart/form-data', null],
      ['multipart/form-data; boundary=', null],
      [`multipart/form-data; boundary=${'x'.repeat(71)}`, null],
      ['application/json', null],
      [undefined, null],
    ];
    for (const [type, expected] of types) assert.equal(boundaryOf(type), expected, type);
  });
});
