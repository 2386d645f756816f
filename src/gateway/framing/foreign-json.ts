import { largeBodyBytes, turn } from '#exchange/turns.ts';
import type { WorkOwner } from '#shared/async/fair-queue.ts';
import { type Json, parsedJson } from '#shared/json/json.ts';
import { byteTable, maxJsonLevels, pastPlainText } from '#shared/json/json-scanner.ts';

/**
 * Maximum number of values of a provider's JSON that becomes objects: arrays, objects, strings, numbers, true, false
 * and null.
 */
export const maxForeignValues = 200_000;

export const maxErrorValues = 10_000;

/** The mark in place of JSON that is too large to be parsed. */
export const tooLargeJson = Symbol('JSON with too many values or levels');

/** JSON of a provider. Undefined if the text is not JSON. */
export type ForeignJson = Json | undefined | typeof tooLargeJson;

/** Number of bytes that are read in one turn of the event loop. */
const sliceBytes = 1024 * 1024;

const comma = 0x2c;
const quote = 0x22;
const backslash = 0x5c;

const isSpace = byteTable(' \t\r\n');
const isOpening = byteTable('[{');
const isClosing = byteTable(']}');

/**
 * Counts the values and levels of JSON whose pieces may be cut anywhere. It keeps nothing and finds no other fault: what
 * it counts of a text that is not JSON means nothing.
 */
export class ForeignJsonScan {
  readonly #maxValues: number;
  values = 0;
  #level = 0;
  #isInString = false;
  #isEscaped = false;
  /** Whether an array or an object has begun in which nothing has come. */
  #isEmpty = true;

  constructor(maxValues = maxForeignValues) {
    this.#maxValues = maxValues;
  }

  /** Whether there are too many values or levels. */
  isTooLarge = false;

  feed(piece: Buffer): void {
    let at = 0;
    while (at < piece.length && !this.isTooLarge) {
      if (this.#isInString) at = this.#pastString(piece, at);
      else {
        this.#byte(piece[at] as number);
        at += 1;
      }
    }
  }

  #byte(code: number): void {
    if (isSpace[code] === 1) return;
    if (isClosing[code] === 1) {
      this.#level -= 1;
      this.#isEmpty = false;
      return;
    }
    if (this.#isEmpty || code === comma) this.values += 1;
    this.#isEmpty = isOpening[code] === 1;
    if (this.#isEmpty) this.#level += 1;
    else if (code === quote) this.#isInString = true;
    this.isTooLarge = this.#level > maxJsonLevels || this.values > this.#maxValues;
  }

  #pastString(piece: Buffer, start: number): number {
    let at = start;
    while (at < piece.length) {
      if (this.#isEscaped) this.#isEscaped = false;
      else {
        at = pastPlainText(piece, at, piece.length);
        if (piece[at] === quote) {
          this.#isInString = false;
          return at + 1;
        }
        this.#isEscaped = piece[at] === backslash;
      }
      at += 1;
    }
    return at;
  }
}

const byteOrderMark = Buffer.from('\ufeff');

/** The bytes of a whole answer or error. Some providers begin it with a mark, which no JSON may have. */
export function withoutByteOrderMark(bytes: Buffer): Buffer {
  const isMarked = bytes[0] === byteOrderMark[0] && bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark);
  return isMarked ? bytes.subarray(byteOrderMark.length) : bytes;
}

/**
 * Parses JSON that a provider has written, in one turn of the event loop. Every text of a provider that becomes values
 * passes here, or in `parseForeignInTurns`. Never throws.
 * @param json of about 1 MiB, or a large event in a turn of its own
 */
export function parseForeign(json: string | Buffer, maxValues = maxForeignValues): ForeignJson {
  // A value takes two characters with its comma, and so does a level.
  if (json.length > 2 * Math.min(maxJsonLevels, maxValues)) {
    const scan = new ForeignJsonScan(maxValues);
    // The bytes of a large text are never in memory as a whole.
    for (let at = 0; at < json.length && !scan.isTooLarge; at += sliceBytes) {
      const slice = json.slice(at, at + sliceBytes);
      scan.feed(typeof slice === 'string' ? Buffer.from(slice) : slice);
    }
    if (scan.isTooLarge) return tooLargeJson;
  }
  if (typeof json !== 'string') return parsedJson(json.toString('utf8'));
  // Inside a stream no mark is allowed, and clients would not take it.
  return json.startsWith('\ufeff') ? undefined : parsedJson(json);
}

export const noRoomForJson = Symbol('JSON whose values have no room');

interface ForeignParsing {
  /** Whose turns the parsing takes. */
  readonly held: WorkOwner;
  /** What has counted its values while it arrived; null if nothing has. */
  readonly scan: ForeignJsonScan | null;
  /** Counts the bytes of its values before they are made. @returns whether there is room for them */
  readonly reserve: (bytes: number) => boolean;
}

/**
 * Parses as `parseForeign` does, but JSON of any size: a large text is scanned in pieces, with turns of the event loop
 * between them. What its values will take is reserved before, because they live until the answer is read. Those of a
 * small text do not live longer than its turn.
 */
export async function parseForeignInTurns(
  bytes: Buffer,
  { held, scan, reserve }: ForeignParsing,
): Promise<ForeignJson | typeof noRoomForJson> {
  if (bytes.length <= largeBodyBytes) return parseForeign(bytes);
  const counted = scan ?? (await scanInTurns(bytes, held));
  if (counted.isTooLarge) return tooLargeJson;
  if (!reserve(bytesOfValues(counted.values, bytes.length))) return noRoomForJson;
  await turn(held, 'answer', bytes.length);
  return parsedJson(bytes.toString('utf8'));
}

async function scanInTurns(bytes: Buffer, held: WorkOwner): Promise<ForeignJsonScan> {
  const scan = new ForeignJsonScan();
  for (let at = 0; at < bytes.length && !scan.isTooLarge; at += sliceBytes) {
    const slice = bytes.subarray(at, at + sliceBytes);
    await turn(held, 'answer', slice.length);
    scan.feed(slice);
  }
  return scan;
}

/** The bytes of a value in addition to its text: an empty object takes 56, and its place in an array 8. */
const bytesPerValue = 64;

/** Each value has its own copy of its part of the text. */
export function bytesOfValues(values: number, textBytes: number): number {
  return bytesPerValue * values + textBytes;
}
