import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { StreamHead } from '#domain/history/digest.ts';
import { clock } from '#shared/clock.ts';
import { headOfLine, leafOf } from './digest.ts';

// A file of heads is NDJSON, compressed by gzip: a line for each stream, in the order of their names. The lines are the
// leaves of the Merkle tree.

export interface HeadsFile {
  readonly content: AsyncIterable<Uint8Array>;
  /** The SHA-256 in hex of the uncompressed lines. It is complete after the content was read to its end. */
  readonly hash: () => string;
}

/** @param heads in order */
export function headsFile(heads: AsyncIterable<StreamHead>): HeadsFile {
  const lines = createHash('sha256');
  async function* texts() {
    for await (const head of heads) {
      const line = `${leafOf(head)}\n`;
      lines.update(line);
      yield line;
    }
  }
  const gzip = createGzip();
  // A failure in the pipeline fails the compressed stream.
  pipeline(Readable.from(texts()), gzip).catch(() => undefined);
  return { content: gzip, hash: () => lines.copy().digest('hex') };
}

/** Splits a text into lines. It holds one chunk, where `readline` would hold a thousand lines of each open file. */
async function* linesOf(text: Readable): AsyncGenerator<string, void, void> {
  let rest = '';
  for await (const chunk of text.setEncoding('utf8')) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/**
 * Reads a file of heads.
 * @param onEnd is called with the SHA-256 in hex of its uncompressed lines
 * @throws Error for a file that cannot be read or decompressed, or a line that is not a head
 */
export async function* readHeads(
  content: Readable,
  onEnd: (hash: string) => void = () => undefined,
): AsyncGenerator<StreamHead, void, void> {
  const lines = createHash('sha256');
  const unpacked = createGunzip();
  const unpacking = pipeline(content, unpacked);
  // The end of the loop waits for it. A reader that stops early ignores its failure.
  unpacking.catch(() => undefined);
  try {
    for await (const line of linesOf(unpacked)) {
      lines.update(`${line}\n`);
      yield headOfLine(line);
    }
    await unpacking;
    onEnd(lines.digest('hex'));
  } finally {
    unpacked.destroy();
    content.destroy();
  }
}

/** @returns the SHA-256 in hex of its uncompressed lines @throws as `readHeads` does */
export async function hashOfHeads(content: Readable): Promise<string> {
  let hash = '';
  const heads = readHeads(content, (found) => {
    hash = found;
  });
  while ((await heads.next()).done !== true);
  return hash;
}

/** True if `readHeads` has failed because the content is not a file of heads, false if it could not be read. */
export function isNoHeadsFile(error: unknown): boolean {
  if (error instanceof SyntaxError || error instanceof TypeError) return true;
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
}

const headsPerTurn = 500;

/** @param files each in order; of a stream in several of them, the head in the last one counts */
export async function* mergeHeads(
  files: ReadonlyArray<AsyncIterable<StreamHead>>,
): AsyncGenerator<StreamHead, void, void> {
  const sources = files.map((file) => file[Symbol.asyncIterator]());
  try {
    const next = await Promise.all(sources.map(advance));
    for (let count = 1; ; count += 1) {
      const newest = newestOfFirst(next);
      if (newest === null) return;
      yield newest;
      for (const [index, head] of next.entries()) {
        const source = sources[index];
        if (head?.stream === newest.stream && source !== undefined) next[index] = await advance(source);
      }
      if (count % headsPerTurn === 0) await clock.nextTurn();
    }
  } finally {
    await Promise.all(sources.map((source) => source.return?.()));
  }
}

async function advance(source: AsyncIterator<StreamHead>): Promise<StreamHead | null> {
  const { value, done } = await source.next();
  return done === true ? null : value;
}

/** The first head by name; of several with this name, the last one. */
function newestOfFirst(heads: ReadonlyArray<StreamHead | null>): StreamHead | null {
  let first: StreamHead | null = null;
  for (const head of heads) if (head !== null && (first === null || head.stream <= first.stream)) first = head;
  return first;
}
