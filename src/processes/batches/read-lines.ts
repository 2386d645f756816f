import type { Readable } from 'node:stream';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

/**
 * A line of a file: its number, counted from 1, and its bytes without the line end; null for a line that is too long.
 */
export interface NumberedLine {
  readonly number: number;
  readonly bytes: Buffer | null;
}

/** A file that is read line by line. */
export interface LinesSource {
  /** Opens the file at a byte; null if the file is gone. @throws UnavailableError */
  readonly open: (start: number) => Promise<Readable | null>;
  /** The most bytes of a line. */
  readonly maxLineBytes: number;
}

const lineFeed = 0x0a;

/** How often in a row an interrupted read is resumed before it fails. */
const maxReopened = 5;

/**
 * Reads a file line by line. It holds one line and one piece of the file at most. Blank lines are counted and left
 * out. An interrupted read is resumed, also after a long pause of the reader.
 * @throws UnavailableError
 */
export async function* readLines({ open, maxLineBytes }: LinesSource): AsyncGenerator<NumberedLine> {
  let number = 0;
  let lineStart = 0;
  for (let failures = 0; ; ) {
    const content = await open(lineStart);
    if (content === null) throw new UnavailableError('The content of the file is not in the blob store.');
    const splitter = new LineSplitter(maxLineBytes);
    try {
      for await (const piece of content) {
        for (const line of splitter.push(piece as Buffer)) {
          number += 1;
          lineStart += line.length;
          failures = 0;
          if (!line.isBlank) yield { number, bytes: line.bytes };
        }
      }
      const last = splitter.finish();
      if (last !== null && !last.isBlank) yield { number: number + 1, bytes: last.bytes };
      return;
    } catch (error) {
      failures += 1;
      if (!(error instanceof UnavailableError) || failures > maxReopened) throw error;
    } finally {
      content.destroy();
    }
  }
}

interface SplitLine {
  readonly bytes: Buffer | null;
  readonly isBlank: boolean;
  /** Its bytes, including the line end. */
  readonly length: number;
}

class LineSplitter {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  *push(piece: Buffer): Generator<SplitLine> {
    let from = 0;
    for (let at = piece.indexOf(lineFeed); at !== -1; at = piece.indexOf(lineFeed, from)) {
      this.#keep(piece.subarray(from, at));
      from = at + 1;
      yield this.#finishLine(1);
    }
    this.#keep(piece.subarray(from));
  }

  /** Returns what follows the last line end; null if nothing does. */
  finish(): SplitLine | null {
    return this.#length === 0 ? null : this.#finishLine(0);
  }

  /** Of a line that is too long, only enough is kept to show that. */
  #keep(bytes: Buffer): void {
    if (this.#length <= this.#maxBytes) this.#pieces.push(bytes);
    this.#length += bytes.length;
  }

  #finishLine(endLength: number): SplitLine {
    const isTooLong = this.#length > this.#maxBytes;
    const bytes = isTooLong ? null : Buffer.concat(this.#pieces);
    const line = { bytes, isBlank: bytes !== null && isBlank(bytes), length: this.#length + endLength };
    this.#pieces = [];
    this.#length = 0;
    return line;
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
