import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LineCalls } from '#application/batches/line-calls.ts';
import type { BatchError, BatchEvents } from '#domain/batch/events.ts';
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

/** The most lines of a batch. */
const maxBatchLines = 50_000;
/** The most bytes of a batch's input. */
const maxBatchBytes = 200 * 1024 * 1024;

/** The most faults that are reported for one input. */
const maxErrors = 100;
const linesInATurn = 64;

/** The faults of an input, or the number of its lines. */
export type CheckedInput = { readonly errors: ReadonlyArray<BatchError> } | { readonly total: number };

/**
 * Checks all lines of a batch's input, one after the other.
 * @param isWanted is called between lines; if it returns false, the check ends with null
 */
export async function checkInput(
  lines: AsyncIterable<NumberedLine>,
  { endpoint, bytes }: { readonly endpoint: BatchEvents['BatchCreated']['endpoint']; readonly bytes: number },
  calls: Pick<LineCalls, 'read'>,
  isWanted: () => boolean,
): Promise<CheckedInput | null> {
  if (bytes > maxBatchBytes) return { errors: [wholeError('file_too_large', tooManyBytes)] };
  const errors: BatchError[] = [];
  /** A hash takes the same memory for an id of any length. */
  const seen = new Set<string>();
  let total = 0;
  for await (const { number, bytes: line } of lines) {
    if (total % linesInATurn === 0) await nextTurn();
    if (!isWanted()) return null;
    total += 1;
    if (total > maxBatchLines)
      return { errors: [...errors.slice(0, maxErrors - 1), wholeError('too_many_lines', tooManyLines)] };
    if (errors.length >= maxErrors) continue;
    const read = line === null ? lineTooLong : await calls.read(line, endpoint);
    if ('code' in read) errors.push({ ...read, line: number });
    else {
      const id = hash('sha256', read.customId, 'base64').slice(0, 24);
      if (seen.has(id)) errors.push({ ...doubled, line: number });
      seen.add(id);
    }
  }
  if (total === 0) return { errors: [wholeError('empty_file', 'The input has no lines.')] };
  return errors.length > 0 ? { errors } : { total };
}

const tooManyBytes = `The input of a batch may have ${maxBatchBytes} bytes at most.`;
const tooManyLines = `A batch may have ${maxBatchLines} lines at most.`;
const lineTooLong = { code: 'line_too_long', message: 'The line is longer than a request may be.', param: null };
const doubled = {
  code: 'duplicate_custom_id',
  message: 'An earlier line has this custom_id.',
  param: 'custom_id',
};

function wholeError(code: string, message: string): BatchError {
  return { code, line: null, message, param: null };
}
