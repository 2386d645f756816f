import type { Readable } from 'node:stream';
import { heldBytesOf } from '#exchange/body.ts';
import type { ByteReservation } from '#exchange/byte-budget.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

/** A line, whose bytes count until it is released. */
export interface NumberedLine {
  /** The number of the line, counted from 1, with blank lines. */
  readonly number: number;
  /** The line without its end; null for a line that is too long, and after the release. */
  readonly bytes: Buffer | null;
  /** Drops its bytes, and counts those of its answer instead. */
  readonly becomeAnswer: (bytes: number) => void;
  readonly release: () => void;
}

export interface LinesSource {
  /** Opens the file; null if it is gone. @throws UnavailableError */
  readonly open: (start: number) => Promise<Readable | null>;
  readonly maxLineBytes: number;
  /** Maximum number of lines, with blank ones. */
  readonly maxLines: number;
  /** Holds room for the bytes of a line. */
  readonly hold: () => ByteReservation;
  /** Waits for room for the next line. Returns whether to read on. */
  readonly waitForRoom: () => Promise<boolean>;
}

const lineFeed = 0x0a;

/** An interrupted read is resumed this number of times in a row before it fails. */
const maxReopened = 5;

export class TooManyLinesError extends Error {
  override readonly name = 'TooManyLinesError';
}

/**
 * Holds one line and one piece of the file at most. Blank lines are counted and left out. An interrupted read is
 * resumed, also after a long pause of the reader. A line that finds no room is read again.
 * @throws UnavailableError, TooManyLinesError
 */
export async function* readLines({ open, waitForRoom, ...source }: LinesSource): AsyncGenerator<NumberedLine> {
  let place: LinePlace = { number: 1, start: 0 };
  for (let failures = 0; ; ) {
    const content = await open(place.start);
    if (content === null) throw new UnavailableError('The content of the file is not in the blob store.');
    const splitter = new LineSplitter(source, place);
    try {
      for await (const piece of content) {
        await clock.nextTurn();
        for (const line of splitter.push(piece as Buffer)) {
          failures = 0;
          yield line;
        }
        if (splitter.lacksRoom) break;
      }
      if (!splitter.lacksRoom) {
        const last = splitter.finish();
        if (last !== null) yield last;
        return;
      }
    } catch (error) {
      failures += 1;
      if (!(error instanceof UnavailableError) || failures > maxReopened) throw error;
    } finally {
      splitter.drop();
      place = splitter.place;
      content.destroy();
    }
    if (splitter.lacksRoom && !(await waitForRoom())) return;
  }
}

interface LinePlace {
  readonly number: number;
  readonly start: number;
}

/**
 * A line that does not end within a piece of the file reserves this many bytes first, and a longer one the maximum.
 * Otherwise many long lines could each have a part of their bytes, and none could get the rest.
 */
const shortLineBytes = 1024 * 1024;

type SplitterOptions = Pick<LinesSource, 'hold' | 'maxLineBytes' | 'maxLines'>;

class LineSplitter {
  /** True if it has stopped before a line for which there is no room. */
  lacksRoom = false;
  readonly #source: SplitterOptions;
  #number: number;
  #start: number;
  #pieces: Buffer[] = [];
  #length = 0;
  #isBlank = true;
  #hold: ByteReservation | null = null;

  constructor(source: SplitterOptions, { number, start }: LinePlace) {
    this.#source = source;
    this.#number = number;
    this.#start = start;
  }

  /** The place of the line that is being read. */
  get place(): LinePlace {
    return { number: this.#number, start: this.#start };
  }

  *push(piece: Buffer): Generator<NumberedLine> {
    for (let from = 0; from < piece.length; ) {
      if (this.#length === 0) from = this.#skipBlankLines(piece, from);
      const at = piece.indexOf(lineFeed, from);
      const isWhole = at !== -1;
      const end = isWhole ? at : piece.length;
      if (!this.#keep(piece.subarray(from, end), isWhole)) return;
      from = end + 1;
      if (!isWhole) return;
      const line = this.#finishLine(1);
      if (line !== null) yield line;
    }
  }

  /** Returns what follows the last line end; null if nothing does. */
  finish(): NumberedLine | null {
    return this.#length === 0 ? null : this.#finishLine(0);
  }

  /** Drops an unfinished line. */
  drop(): void {
    this.#hold?.release();
    this.#hold = null;
    this.#pieces = [];
    this.#length = 0;
  }

  /** Passes over lines that are blank and end in this piece. @returns the start of the first other line */
  #skipBlankLines(piece: Buffer, from: number): number {
    let start = from;
    for (let at = from; at < piece.length; at += 1) {
      const byte = piece[at] as number;
      if (byte === lineFeed) {
        this.#begin(at + 1 - start);
        start = at + 1;
      } else if (!isBlank(byte)) break;
    }
    return start;
  }

  /** Begins the next line after this many bytes. */
  #begin(bytes: number): void {
    this.#number += 1;
    this.#start += bytes;
    const { maxLines } = this.#source;
    if (this.#number > maxLines + 1) throw new TooManyLinesError(`There are more than ${maxLines} lines.`);
  }

  /** Keeps bytes, but nothing of a line that is too long. @returns false if there is no room for the bytes */
  #keep(bytes: Buffer, isWhole: boolean): boolean {
    this.#length += bytes.length;
    this.#isBlank &&= bytes.every(isBlank);
    if (this.#length > this.#source.maxLineBytes) {
      this.#pieces = [];
      this.#hold?.resize(0);
      return true;
    }
    if (!this.#reserve(isWhole)) {
      this.lacksRoom = true;
      return false;
    }
    this.#pieces.push(bytes);
    return true;
  }

  #reserve(isWhole: boolean): boolean {
    this.#hold ??= this.#source.hold();
    const { maxLineBytes } = this.#source;
    const most = this.#length <= shortLineBytes ? Math.min(shortLineBytes, maxLineBytes) : maxLineBytes;
    const wanted = isWhole ? this.#length : most;
    return wanted <= this.#hold.bytes || this.#hold.take(wanted - this.#hold.bytes) === null;
  }

  #finishLine(endLength: number): NumberedLine | null {
    const hold = this.#hold ?? this.#source.hold();
    const isTooLong = this.#length > this.#source.maxLineBytes;
    // A copy, because a view would keep the whole piece of the file in memory.
    const bytes = isTooLong ? null : Buffer.concat(this.#pieces);
    hold.resize(bytes === null ? 0 : heldBytesOf(bytes));
    const line = isTooLong || !this.#isBlank ? new CountedLine(this.#number, bytes, hold) : null;
    if (line === null) hold.release();
    this.#hold = null;
    this.#begin(this.#length + endLength);
    this.#pieces = [];
    this.#length = 0;
    this.#isBlank = true;
    return line;
  }
}

class CountedLine implements NumberedLine {
  readonly number: number;
  bytes: Buffer | null;
  readonly #hold: ByteReservation;

  constructor(number: number, bytes: Buffer | null, hold: ByteReservation) {
    this.number = number;
    this.bytes = bytes;
    this.#hold = hold;
  }

  becomeAnswer(bytes: number): void {
    this.bytes = null;
    this.#hold.resize(bytes);
  }

  release(): void {
    this.bytes = null;
    this.#hold.release();
  }
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}
