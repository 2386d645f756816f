import type { Json } from '#shared/json/json.ts';
import { maxErrorValues, parseForeign, tooLargeJson } from './foreign-json.ts';
import { NextOf } from './next-of.ts';

/** Maximum size of a kept value. */
const maxValueBytes = 64 * 1024;

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Bytes that are not an object are `malformed`. */
type ReadState = 'open' | 'complete' | 'malformed';

/**
 * Reads a few members of a JSON object (RFC 8259) that arrives in pieces, and passes over all other values without
 * keeping or parsing them. It finds the structure alone: what is inside of other values is not checked.
 */
export class JsonMemberReader {
  readonly #wanted: ReadonlySet<string>;
  readonly #values = new Map<string, Buffer[]>();
  readonly #names = new Set<string>();
  readonly #noted: ReadonlySet<string>;
  #state: ReadState = 'open';
  /** The number of open objects and arrays. */
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** Whether a name of the object comes next, and not its value. */
  #isNameNext = true;
  /** The pieces of the name or value that is being kept; null while none is. */
  #kept: Buffer[] | null = null;
  #keptBytes = 0;
  /** Where the kept part begins in the current piece. */
  #keptFrom = 0;
  #name = '';

  /**
   * @param names the members whose values are kept
   * @param noted the members of which only their presence is kept
   */
  constructor(names: ReadonlyArray<string>, noted: ReadonlyArray<string> = []) {
    this.#wanted = new Set(names);
    this.#noted = new Set(noted);
  }

  get state(): ReadState {
    return this.#state;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** The value; undefined if the member is missing, too long or not JSON. */
  value(name: string): Json | undefined {
    const pieces = this.#values.get(name);
    const value = pieces === undefined ? undefined : parseForeign(Buffer.concat(pieces), maxErrorValues);
    return value === tooLargeJson ? undefined : value;
  }

  feed(piece: Buffer): void {
    this.#keptFrom = 0;
    // Nearly all bytes are inside of vectors and texts: they matter only where these begin and end.
    const inner = new NextOf(piece, [quote, openBracket, closeBracket, openBrace, closeBrace]);
    const ofString = new NextOf(piece, [quote, backslash]);
    for (let at = 0; at < piece.length; at += 1) {
      if (this.#isInString && !this.#isEscaped) at = ofString.from(at);
      else if (!this.#isInString && this.#depth > 1) at = inner.from(at);
      if (at < piece.length) this.#byte(piece, at, piece[at] as number);
    }
    this.#keep(piece, piece.length);
  }

  #byte(piece: Buffer, at: number, byte: number): void {
    if (this.#isInString) this.#byteOfString(piece, at, byte);
    else if (byte <= 0x20) return;
    else if (this.#depth === 0) this.#beginObject(byte);
    else if (byte === quote) this.#beginString(at);
    else if (byte === openBrace || byte === openBracket) this.#depth += 1;
    else if (byte === closeBrace || byte === closeBracket) this.#close(piece, at, byte);
    else if (this.#depth > 1) return;
    else if (byte === colon) this.#beginValue(at + 1);
    else if (byte === comma) this.#endValue(piece, at);
  }

  #beginString(at: number): void {
    this.#isInString = true;
    if (this.#depth === 1 && this.#isNameNext) this.#beginKept(at);
  }

  #byteOfString(piece: Buffer, at: number, byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte === quote) this.#endString(piece, at);
  }

  #close(piece: Buffer, at: number, byte: number): void {
    if (this.#depth === 1) this.#endValue(piece, at);
    this.#depth -= 1;
    if (this.#depth === 0) this.#state = byte === closeBrace ? 'complete' : 'malformed';
  }

  #beginObject(byte: number): void {
    if (byte === openBrace && this.#state === 'open') this.#depth = 1;
    else this.#state = 'malformed';
  }

  #endString(piece: Buffer, at: number): void {
    this.#isInString = false;
    if (this.#depth !== 1 || !this.#isNameNext) return;
    this.#keep(piece, at + 1);
    const name = this.#kept === null ? '' : Buffer.concat(this.#kept).toString('utf8');
    this.#kept = null;
    this.#name = nameIn(name);
  }

  #beginValue(start: number): void {
    this.#isNameNext = false;
    const isWanted = this.#wanted.has(this.#name);
    if (isWanted || this.#noted.has(this.#name)) this.#names.add(this.#name);
    if (!isWanted) return;
    this.#beginKept(start);
    if (this.#kept !== null) this.#values.set(this.#name, this.#kept);
  }

  #endValue(piece: Buffer, end: number): void {
    this.#keep(piece, end);
    this.#kept = null;
    this.#isNameNext = true;
  }

  #beginKept(start: number): void {
    this.#kept = [];
    this.#keptBytes = 0;
    this.#keptFrom = start;
  }

  /** Keeps what has come of the current name or value, unless that is too long. */
  #keep(piece: Buffer, end: number): void {
    if (this.#kept === null) return;
    this.#keptBytes += end - this.#keptFrom;
    if (this.#keptBytes > maxValueBytes) this.#kept.length = 0;
    else if (end > this.#keptFrom) this.#kept.push(Buffer.from(piece.subarray(this.#keptFrom, end)));
    this.#keptFrom = end;
  }
}

/** The name without its quotes and escapes; empty if it cannot be read. */
function nameIn(json: string): string {
  const name = parseForeign(json);
  return typeof name === 'string' ? name : '';
}
