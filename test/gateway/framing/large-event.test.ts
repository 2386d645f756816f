import assert from 'node:assert/strict';
import fc from 'fast-check';
import { EventData } from '#gateway/framing/event-data.ts';
import { LargeEvent } from '#gateway/framing/large-event.ts';
import { SseSplitter } from '#gateway/framing/sse-splitter.ts';
import { itInRounds } from '#test/support/run/long.ts';

const mebibyte = 1024 * 1024;

/** Reads the first event of a stream in pieces. @returns where it ends, and its data */
function read(pieces: ReadonlyArray<Buffer>) {
  const data = new EventData(2 * mebibyte);
  const event = new LargeEvent(data);
  let length = 0;
  for (const piece of pieces) {
    const end = event.take(piece);
    if (end !== -1) return { end: length + end, data: data.take(), event };
    length += piece.length;
  }
  return { end: -1, data: data.take(), event };
}

function cut(bytes: Buffer, places: ReadonlyArray<number>): ReadonlyArray<Buffer> {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index] ?? 0, end));
}

const line = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => `data:${text}`),
  fc.constantFrom('data:', 'data: ', 'dat', 'datum: x', 'event: x', ': ping', 'id: 1', ' data: x'),
);
const stream = fc
  .record({
    lines: fc.array(line, { minLength: 1, maxLength: 4 }),
    end: fc.constantFrom('\n', '\r\n', '\r'),
    rest: fc.constantFrom('', 'data: next\n\n', '\n', 'x'),
  })
  .map(({ lines, end, rest }) =>
    Buffer.from(`${lines.map((text) => text.replaceAll(/[\r\n]/g, '.') + end).join('')}${end}${rest}`),
  );

describe('LargeEvent', () => {
  itInRounds(
    'ends where the splitter ends it, with the same data, wherever its bytes are cut',
    { few: 300, many: 5_000 },
    (numRuns) => {
      fc.assert(
        fc.property(stream, fc.array(fc.nat(), { maxLength: 8 }), (bytes, places) => {
          // A last carriage return ends a line only when something follows.
          const whole = Buffer.concat([bytes, Buffer.from('x')]);
          const expected = new SseSplitter().push(whole).events[0];
          const { end, data } = read(cut(whole, places));
          assert.equal(end, expected?.end);
          assert.equal(data, expected?.data ?? '');
        }),
        { numRuns },
      );
    },
  );

  it('reads each byte once, whichever line ends it has', () => {
    for (const lineEnd of ['\n', '\r']) {
      const event = new LargeEvent();
      const piece = Buffer.from(`x${lineEnd}`.repeat(mebibyte / 2));
      const startedAt = performance.now();
      for (let times = 0; times < 4; times += 1) assert.equal(event.take(piece), -1);
      // Every line's end searched to the end of the piece would take minutes.
      assert.ok(performance.now() - startedAt < 5_000);
    }
  });

  it('keeps the outline of its data alone', () => {
    const { event } = read([
      Buffer.from('event: x\ndata: {"type":"x","text":"'),
      Buffer.alloc(mebibyte, 'x'),
      Buffer.from('","n":1}\n'),
    ]);
    assert.equal(event.outline.text, '{"type":"x","text":"...","n":1}');
    assert.ok(event.outline.bytes < 10_000);
  });
});
