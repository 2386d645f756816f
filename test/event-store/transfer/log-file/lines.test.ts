import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isWhole, linesOf } from '#event-store/transfer/log-file/lines.ts';

async function* chunksOf(text: Buffer, sizes: ReadonlyArray<number>): AsyncGenerator<Buffer> {
  let start = 0;
  for (const size of sizes) {
    yield text.subarray(start, start + size);
    start += size;
  }
  yield text.subarray(start);
}

describe('linesOf', () => {
  it('gives the same lines however the bytes are split', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.stringMatching(/^[a\n\r\u2028ü]{0,40}$/),
        fc.array(fc.integer({ min: 1, max: 9 })),
        async (text, sizes) => {
          const lines: Buffer[] = [];
          for await (const some of linesOf(chunksOf(Buffer.from(text), sizes))) lines.push(...some);
          assert.equal(Buffer.concat(lines).toString(), text);
          for (const line of lines.slice(0, -1)) assert.ok(isWhole(line));
          for (const line of lines) assert.equal(line.subarray(0, -1).indexOf('\n'), -1);
        },
      ),
    );
  });
});
