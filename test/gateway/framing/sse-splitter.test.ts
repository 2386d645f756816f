import assert from 'node:assert/strict';
import fc from 'fast-check';
import { maxSplitBytes, SseSplitter } from '#gateway/framing/sse-splitter.ts';
import { itInRounds } from '#test/support/run/long.ts';

/** Pushes pieces. @returns the resulting bytes, and the data of each event */
function split(pieces: ReadonlyArray<Buffer>) {
  const splitter = new SseSplitter();
  const bytes: Buffer[] = [];
  const said: (string | null)[] = [];
  for (const piece of pieces) {
    const batch = splitter.push(piece);
    bytes.push(batch.bytes);
    let end = 0;
    for (const event of batch.events) {
      assert.equal(event.start, end, 'events stand next to each other');
      end = event.end;
      said.push(event.data);
    }
    assert.equal(end, batch.bytes.length, 'a batch is its events');
  }
  return { bytes: Buffer.concat(bytes), said, splitter };
}

function cut(bytes: Buffer, places: ReadonlyArray<number>): ReadonlyArray<Buffer> {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index] ?? 0, end));
}

const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
const line = fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => text.replaceAll(/[\r\n]/g, '.'));
const event = fc.oneof(
  fc.record({ kind: fc.constant('data' as const), lines: fc.array(line, { minLength: 1, maxLength: 3 }) }),
  fc.record({ kind: fc.constant('comment' as const), lines: fc.constant(['ping']) }),
);

describe('SseSplitter', () => {
  itInRounds(
    'splits a stream the same wherever its bytes are cut, and changes no byte',
    { few: 200, many: 5_000 },
    (numRuns) => {
      fc.assert(
        fc.property(
          fc.array(event, { maxLength: 6 }),
          lineEnd,
          fc.boolean(),
          fc.array(fc.nat(), { maxLength: 12 }),
          (events, end, spaced, places) => {
            const written = events.map(({ kind, lines }) =>
              lines
                .map((text) => `${kind === 'data' ? `data:${spaced ? ' ' : ''}${text}` : `: ${text}`}${end}`)
                .join(''),
            );
            const stream = Buffer.from(`${written.map((text) => text + end).join('')}: end\n\n`);
            const { bytes, said } = split(cut(stream, places));
            assert.deepEqual(bytes, stream);
            const unspaced = (text: string) => (!spaced && text.startsWith(' ') ? text.slice(1) : text);
            assert.deepEqual(said, [
              ...events.map(({ kind, lines }) => (kind === 'data' ? lines.map(unspaced).join('\n') : null)),
              null,
            ]);
          },
        ),
        { numRuns },
      );
    },
  );

  it('never throws and keeps every byte, whatever arrives', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 20 })), (pieces) => {
        const { bytes, splitter } = split(pieces.map((piece) => Buffer.from(piece)));
        const all = Buffer.concat([bytes, splitter.finish().bytes.subarray(0, -2)]);
        assert.deepEqual(all, Buffer.concat(pieces));
      }),
    );
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[\r\nd:]*$/)), (pieces) => {
        const { bytes, splitter } = split(pieces.map((piece) => Buffer.from(piece)));
        const all = Buffer.concat([bytes, splitter.finish().bytes.subarray(0, -2)]);
        assert.equal(all.toString(), pieces.join(''));
      }),
    );
  });

  it('holds an event until its blank line', () => {
    const splitter = new SseSplitter();
    assert.equal(splitter.push(Buffer.from('data: {"a":1}\n')).events.length, 0);
    assert.equal(splitter.push(Buffer.from('\ndata: x')).bytes.toString(), 'data: {"a":1}\n\n');
    assert.equal(splitter.finish().bytes.toString(), 'data: x\n\n');
  });

  it('skips a byte order mark, and data without a colon', () => {
    assert.deepEqual(split([Buffer.from('\ufeffdata: a\n\ndata\n\ndatum: b\n\n')]).said, ['a', '', null]);
  });

  it('returns the held bytes at the end, with the missing blank line', () => {
    const splitter = new SseSplitter();
    splitter.push(Buffer.from('data: [DONE]\n'));
    const { bytes, events } = splitter.finish();
    assert.equal(bytes.toString(), 'data: [DONE]\n\n\n');
    assert.equal(events[0]?.data, '[DONE]');
    assert.equal(splitter.finish().events.length, 0);
  });

  it('reports an event that is too long, and reads each byte of it once', () => {
    const splitter = new SseSplitter();
    const piece = Buffer.alloc(1_024, 'x');
    for (let sent = 0; sent < maxSplitBytes; sent += piece.length) splitter.push(piece);
    assert.equal(splitter.isOverflown, false);
    splitter.push(piece);
    assert.equal(splitter.isOverflown, true);
    assert.equal(splitter.takeBeginning().length, maxSplitBytes + piece.length);
    assert.equal(splitter.push(Buffer.from('data: x\n\n')).events[0]?.data, 'x');
  });

  it('searches each part of a long event once, whichever line ends it has', () => {
    for (const [lineEnd, last] of [
      ['\n', '\r\n'],
      ['\r', '\n\n'],
    ] as const) {
      const event = Buffer.from(`x${lineEnd}`.repeat(maxSplitBytes / 2) + last);
      const startedAt = performance.now();
      assert.equal(split([event]).said.length, 1);
      // Every line's end searched to the end of the event would take half a minute.
      assert.ok(performance.now() - startedAt < 5_000);
    }
  });
});
