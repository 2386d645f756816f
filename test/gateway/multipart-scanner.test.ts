import assert from 'node:assert/strict';
import fc from 'fast-check';
import { boundaryOf, MultipartScanner } from '../../src/gateway/multipart-scanner.ts';

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
    .map((pieces) => Buffer.from(pieces.join('').replaceAll(`\r\n--${boundary}`, '')))
    .filter((bytes) => !`\r\n${bytes.toString()}`.includes(`\r\n--${boundary}`)),
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

function scan(pieces: ReadonlyArray<Buffer>): MultipartScanner {
  const scanner = new MultipartScanner(boundary);
  for (const piece of pieces) scanner.push(piece);
  scanner.finish();
  return scanner;
}

function cut(bytes: Buffer, places: ReadonlyArray<number>): ReadonlyArray<Buffer> {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index] ?? 0, end));
}

describe('multipart body', () => {
  it('is read the same wherever its bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), fc.array(fc.nat(), { maxLength: 20 }), (parts, places) => {
        const body = write(parts);
        const scanner = scan(cut(body, places));
        assert.equal(scanner.fault, null);
        assert.deepEqual(
          scanner.parts.map(({ name, filename, contentStart, end }) => ({
            name,
            filename,
            content: body.subarray(contentStart, end),
          })),
          parts,
        );
        for (const { filename, text, start, contentStart, end } of scanner.parts) {
          assert.equal(text, filename === null ? body.toString('utf8', contentStart, end) : null);
          assert.match(body.toString('latin1', start, contentStart), /^Content-Type: x\/y\r\n/);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('is read byte by byte, with a preamble and white space behind boundaries', () => {
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

  it('tells what is wrong', () => {
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

  it('never throws', () => {
    fc.assert(fc.property(fc.array(fc.uint8Array()), (pieces) => void scan(pieces.map((piece) => Buffer.from(piece)))));
  });

  it('has its boundary in the content type', () => {
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
