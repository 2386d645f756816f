import { JsonOutline } from './json-outline.ts';
import { NextOf } from './next-of.ts';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const fieldName = Buffer.from('data:');
const joint = Buffer.from('\n');

interface DataListener {
  readonly feed: (piece: Buffer) => void;
}

/**
 * Reads a large event of a stream (WHATWG HTML, 9.2.6) in pieces that may be cut anywhere, each byte once. It keeps the
 * outline of its data alone.
 */
export class LargeEvent {
  readonly outline = new JsonOutline();
  readonly #listener: DataListener | null;
  #lineBytes = 0;
  /** Whether the line so far may be, or is, a line of data. */
  #isData = true;
  #hasData = false;
  /** Whether the last byte was a carriage return, whose line feed may follow. */
  #isAfterReturn = false;
  /** Whether its blank line has come, but for a line feed that may follow. */
  #isComplete = false;

  /** @param listener takes the data; null if they are not needed */
  constructor(listener: DataListener | null = null) {
    this.#listener = listener;
  }

  /** @returns where the next event begins in it; -1 until the event ends */
  take(piece: Buffer): number {
    const lineEnds = new NextOf(piece, [lineFeed, carriageReturn]);
    let at = 0;
    while (at < piece.length) {
      const isPair = this.#isAfterReturn && piece[at] === lineFeed;
      this.#isAfterReturn = false;
      if (isPair) at += 1;
      if (this.#isComplete) return at;
      if (!isPair) at = this.#takeLine(piece, at, lineEnds.from(at));
    }
    return this.#isComplete && !this.#isAfterReturn ? at : -1;
  }

  /** @returns where the rest begins */
  #takeLine(piece: Buffer, start: number, end: number): number {
    if (end > start) this.#takePart(piece, start, end);
    if (end === piece.length) return end;
    this.#isAfterReturn = piece[end] === carriageReturn;
    this.#isComplete = this.#lineBytes === 0;
    this.#lineBytes = 0;
    this.#isData = true;
    return end + 1;
  }

  #takePart(piece: Buffer, start: number, end: number): void {
    let at = start;
    while (at < end && this.#isData && this.#lineBytes < fieldName.length) {
      this.#isData = piece[at] === fieldName[this.#lineBytes];
      this.#lineBytes += 1;
      at += 1;
      if (this.#isData && this.#lineBytes === fieldName.length) this.#beginData();
    }
    if (!this.#isData) {
      this.#lineBytes += end - at;
      return;
    }
    if (at < end && this.#lineBytes === fieldName.length && piece[at] === space) {
      this.#lineBytes += 1;
      at += 1;
    }
    this.#lineBytes += end - at;
    if (at < end) this.#feed(piece.subarray(at, end));
  }

  #beginData(): void {
    if (this.#hasData) this.#feed(joint);
    this.#hasData = true;
  }

  #feed(data: Buffer): void {
    this.outline.feed(data);
    this.#listener?.feed(data);
  }
}

export function outlineOf(beginning: Buffer): string {
  const event = new LargeEvent();
  event.take(beginning);
  return event.outline.closedText;
}
