/** Much longer than any event that a store accepts. */
const maxLineBytes = 128 * 1024 * 1024;

const newline = 0x0a;

/**
 * Splits text into lines at "\n" only, many at a time. Each line includes its end; the last one may not have one.
 * @throws RangeError for a line of more than 128 MiB
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ReadonlyArray<Buffer>, void, void> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  for await (const bytes of chunks) {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const line = chunk.subarray(start, end + 1);
      lines.push(rest.length === 0 ? line : Buffer.concat([...rest, line]));
      rest = [];
      restBytes = 0;
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
    restBytes += chunk.length - start;
    if (restBytes > maxLineBytes) throw new RangeError(`A line is longer than ${maxLineBytes} bytes.`);
    if (lines.length > 0) yield lines;
  }
  if (rest.length > 0) yield [Buffer.concat(rest)];
}

/** True if the line was not cut off. */
export function isWhole(line: Buffer): boolean {
  return line.at(-1) === newline;
}
