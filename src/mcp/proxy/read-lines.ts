import type { Readable } from 'node:stream';

const newline = 0x0a;

/** Reads the lines of a stream in UTF-8. It gives null for a line that is too long, and keeps nothing of it. */
export async function* readLines(input: Readable, maxBytes: number): AsyncGenerator<string | null, void, void> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  const take = (piece: Buffer) => {
    bytes += piece.length;
    if (bytes <= maxBytes) pieces.push(piece);
    else pieces = [];
  };
  const line = () => {
    const text = bytes <= maxBytes ? Buffer.concat(pieces).toString('utf8') : null;
    pieces = [];
    bytes = 0;
    return text;
  };
  for await (const chunk of input as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      take(chunk.subarray(start, end));
      yield line();
      start = end + 1;
    }
    take(chunk.subarray(start));
  }
  if (bytes > 0) yield line();
}
