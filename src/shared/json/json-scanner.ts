import { maxPointerLength, pointerTo } from './json-pointer.ts';

/** Maximum number of levels of arrays and objects. A parser needs seconds for millions of them. */
export const maxJsonLevels = 256;

/** What a scan reads in one turn of the event loop: some milliseconds, with names that have escapes. */
const sliceBytes = 1024 * 1024;
const sliceValues = 16 * 1024;

export type JsonFaultKind = 'malformed' | 'too-deep' | 'too-many-values';

export interface JsonFault {
  readonly kind: JsonFaultKind;
  /** The offset in bytes; the length of the text if it ends early. */
  readonly offset: number;
}

/**
 * Is notified of the values of a text while the scanner reads them, down to a level. The calls mean nothing if the
 * text is faulty.
 */
export interface JsonListener {
  /** The deepest reported level. The outermost value is on level 0, its members or items on level 1. */
  readonly maxLevel: number;
  /**
   * A value begins.
   * @param nameStart the offset of its name's opening quote; -1 for a value without a name
   * @param nameEnd the offset after its name's closing quote
   */
  begin(level: number, start: number, nameStart: number, nameEnd: number): void;
  /** @param end the offset after the value */
  end(level: number, end: number): void;
}

export interface JsonLimits {
  /** Maximum number of values. Arrays, objects, strings, numbers, true, false and null all count. */
  readonly maxValues: number;
  /** Default `maxJsonLevels`. */
  readonly maxLevels?: number;
}

const quote = 0x22;
const comma = 0x2c;
const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;
const nine = 0x39;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const letterU = 0x75;
const openBrace = 0x7b;
const closeBrace = 0x7d;

const isSpace = byteTable(' \t\r\n');
const isHexDigit = byteTable('0123456789abcdefABCDEF');
const isEscape = byteTable('"\\/bfnrt');

const literals = ['true', 'false', 'null'].map((word) => Buffer.from(word));

function isInString(expect: Expect): boolean {
  return expect === Expect.restOfName || expect === Expect.restOfString;
}

const Expect = {
  value: 0,
  valueOrClose: 1,
  name: 2,
  nameOrClose: 3,
  colon: 4,
  commaOrClose: 5,
  restOfName: 6,
  restOfString: 7,
  end: 8,
} as const;
type Expect = (typeof Expect)[keyof typeof Expect];

/**
 * Reads JSON (RFC 8259) slice by slice, and keeps nothing of it. The bytes must be UTF-8; the scanner does not check
 * that. It accepts what `JSON.parse` accepts, within its limits.
 */
export class JsonScanner {
  readonly #bytes: Buffer;
  readonly #maxValues: number;
  readonly #maxLevels: number;
  readonly #listener: JsonListener | null;
  readonly #listenedLevel: number;
  /** True for each level whose container is an object. */
  readonly #isObject: boolean[] = [false];
  /** For each level, the offset of the latest name in an object, or the latest index in an array. */
  readonly #places: number[] = [0];
  #at = 0;
  #until = 0;
  #bytesOfLatest = sliceBytes;
  #isStringOpen = false;
  #level = 0;
  #expect: Expect = Expect.value;
  #nameStart = -1;
  #nameEnd = -1;
  #values = 0;
  #fault: JsonFault | null = null;

  constructor(bytes: Buffer, { maxValues, maxLevels = maxJsonLevels }: JsonLimits, listener?: JsonListener) {
    this.#bytes = bytes;
    this.#maxValues = maxValues;
    this.#maxLevels = maxLevels;
    this.#listener = listener ?? null;
    this.#listenedLevel = listener?.maxLevel ?? -1;
  }

  /** The fault; null while none was found. */
  get fault(): JsonFault | null {
    return this.#fault;
  }

  get values(): number {
    return this.#values;
  }

  /** True if the outermost value is an object. */
  get isObject(): boolean {
    return this.#isObject[1] === true;
  }

  /** About as many bytes as the latest slice, which may have ended at its number of values. */
  get bytesOfSlice(): number {
    return Math.min(this.#bytesOfLatest, this.#bytes.length - this.#at);
  }

  /**
   * Reads the next slice: about 1 MiB, or 16,384 values. A number is never split.
   * @returns whether the scan has ended, at the end of the text or at a fault
   */
  advance(): boolean {
    const bytes = this.#bytes;
    const length = bytes.length;
    const until = Math.min(length, this.#at + sliceBytes);
    const valuesUntil = this.#values + sliceValues;
    this.#until = until;
    let at = this.#at;
    while (this.#fault === null) {
      if (!isInString(this.#expect)) while (at < until && isSpace[bytes[at] as number] === 1) at += 1;
      if (at >= until || this.#values >= valuesUntil) break;
      at = this.#token(at, bytes[at] as number);
    }
    this.#bytesOfLatest = at - this.#at;
    this.#at = at;
    if (this.#fault === null && at < length) return false;
    if (this.#fault === null && this.#expect !== Expect.end) this.#fail('malformed', length);
    return true;
  }

  /** The pointer (RFC 6901) of the latest value. A long one ends at a value around it. */
  pointer(): string {
    const keys: string[] = [];
    for (let level = 1; level <= this.#level; level += 1) {
      const place = this.#places[level] as number;
      const key = this.#isObject[level] === true ? this.#nameAt(place) : String(place);
      if (key === null) break;
      keys.push(key);
    }
    return pointerTo(keys);
  }

  /** Reads a token that begins at an offset. @returns the offset after it */
  #token(at: number, code: number): number {
    switch (this.#expect) {
      case Expect.colon:
        if (code !== colon) return this.#fail('malformed', at);
        this.#expect = Expect.value;
        return at + 1;
      case Expect.commaOrClose:
        if (code !== comma) return this.#close(at, code);
        if (this.#isObject[this.#level] === true) this.#expect = Expect.name;
        else {
          this.#expect = Expect.value;
          this.#places[this.#level] = (this.#places[this.#level] as number) + 1;
        }
        return at + 1;
      case Expect.nameOrClose:
        return code === quote ? this.#name(at) : this.#close(at, code);
      case Expect.name:
        return code === quote ? this.#name(at) : this.#fail('malformed', at);
      case Expect.valueOrClose:
        return code === closeBracket ? this.#close(at, code) : this.#value(at, code);
      case Expect.value:
        return this.#value(at, code);
      case Expect.restOfName:
        return this.#restOfName(at);
      case Expect.restOfString:
        return this.#restOfString(at);
      case Expect.end:
        return this.#fail('malformed', at);
    }
  }

  #name(at: number): number {
    this.#places[this.#level] = at;
    this.#nameStart = at;
    return this.#restOfName(at + 1);
  }

  #restOfName(at: number): number {
    const end = this.#pastString(at);
    this.#nameEnd = end;
    this.#expect = this.#isStringOpen ? Expect.restOfName : Expect.colon;
    return end;
  }

  #restOfString(at: number): number {
    const end = this.#pastString(at);
    if (this.#fault !== null) return end;
    if (!this.#isStringOpen) return this.#valueEnds(end);
    this.#expect = Expect.restOfString;
    return end;
  }

  /** Reads the rest of a string, up to its end or the end of the slice. @returns the offset after it */
  #pastString(at: number): number {
    const bytes = this.#bytes;
    this.#isStringOpen = false;
    let end = at;
    while (end < this.#until) {
      end = pastPlainText(bytes, end, this.#until);
      if (end >= this.#until) break;
      const code = bytes[end];
      if (code === quote) return end + 1;
      const past = code === backslash ? pastEscape(bytes, end) : end;
      if (past === end) return this.#fail('malformed', end);
      end = past;
    }
    this.#isStringOpen = true;
    return end;
  }

  #value(at: number, code: number): number {
    const level = this.#level;
    this.#values += 1;
    if (this.#values > this.#maxValues) return this.#fail('too-many-values', at);
    if (level <= this.#listenedLevel) this.#listener?.begin(level, at, this.#nameStart, this.#nameEnd);
    if (code === openBrace || code === openBracket) return this.#open(at, code === openBrace);
    if (code === quote) return this.#restOfString(at + 1);
    const end = endOfWord(this.#bytes, at, code);
    return end < 0 ? this.#fail('malformed', ~end) : this.#valueEnds(end);
  }

  #valueEnds(end: number): number {
    this.#nameStart = -1;
    if (this.#level <= this.#listenedLevel) this.#listener?.end(this.#level, end);
    this.#expect = this.#level === 0 ? Expect.end : Expect.commaOrClose;
    return end;
  }

  #open(at: number, isObject: boolean): number {
    if (this.#level === this.#maxLevels) return this.#fail('too-deep', at);
    this.#level += 1;
    this.#isObject[this.#level] = isObject;
    this.#places[this.#level] = 0;
    this.#nameStart = -1;
    this.#expect = isObject ? Expect.nameOrClose : Expect.valueOrClose;
    return at + 1;
  }

  #close(at: number, code: number): number {
    const isObject = this.#isObject[this.#level] === true;
    if (code !== (isObject ? closeBrace : closeBracket)) return this.#fail('malformed', at);
    this.#level -= 1;
    return this.#valueEnds(at + 1);
  }

  #fail(kind: JsonFaultKind, offset: number): number {
    this.#fault = { kind, offset };
    return offset;
  }

  /** The name; null for a long one. */
  #nameAt(start: number): string | null {
    const bytes = this.#bytes;
    const longest = Math.min(bytes.length, start + maxPointerLength);
    let end = start + 1;
    while (end < longest && bytes[end] !== quote) end += bytes[end] === backslash ? 2 : 1;
    return end < longest ? stringIn(bytes, start, end + 1) : null;
  }
}

/** The place for a person. Both numbers count from 1; columns count characters. */
export function lineAndColumn(bytes: Buffer, offset: number): { readonly line: number; readonly column: number } {
  let line = 1;
  let lineStart = 0;
  for (let feed = bytes.indexOf(0x0a); feed !== -1 && feed < offset; feed = bytes.indexOf(0x0a, feed + 1)) {
    line += 1;
    lineStart = feed + 1;
  }
  return { line, column: bytes.toString('utf8', lineStart, offset).length + 1 };
}

/** A table with 1 at each of these bytes. A lookup costs less than comparisons. */
export function byteTable(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const code of Buffer.from(characters)) table[code] = 1;
  return table;
}

/** The offset after all bytes of a string but quotes, backslashes and control characters. */
export function pastPlainText(bytes: Buffer, at: number, until: number): number {
  let end = at;
  while (end < until) {
    const code = bytes[end] as number;
    if (code === quote || code === backslash || code < 0x20) break;
    end += 1;
  }
  return end;
}

/** @returns the offset after the escape; the offset of its backslash if the escape is faulty */
export function pastEscape(bytes: Buffer, at: number): number {
  const escaped = bytes[at + 1] ?? 0;
  if (isEscape[escaped] === 1) return at + 2;
  return escaped === letterU && hasHexDigits(bytes, at + 2) ? at + 6 : at;
}

function hasHexDigits(bytes: Buffer, at: number): boolean {
  if (at + 4 > bytes.length) return false;
  for (let index = at; index < at + 4; index += 1) if (isHexDigit[bytes[index] as number] === 0) return false;
  return true;
}

/** Reads a number or a literal. @returns the offset after it; the complement (`~`) of the faulty byte's offset */
export function endOfWord(bytes: Buffer, at: number, code: number): number {
  if (code === minus || isDigit(code)) return endOfNumber(bytes, at);
  for (const literal of literals) if (code === literal[0]) return endOfLiteral(bytes, at, literal);
  return ~at;
}

function endOfNumber(bytes: Buffer, at: number): number {
  const start = bytes[at] === minus ? at + 1 : at;
  let end = bytes[start] === zero ? start + 1 : pastDigits(bytes, start);
  if (end === start) return ~end;
  if (bytes[end] === point) {
    const fraction = end + 1;
    end = pastDigits(bytes, fraction);
    if (end === fraction) return ~end;
  }
  if (isExponent(bytes[end])) {
    const sign = bytes[end + 1];
    const exponent = sign === minus || sign === 0x2b ? end + 2 : end + 1;
    end = pastDigits(bytes, exponent);
    if (end === exponent) return ~Math.min(end, bytes.length);
  }
  return end;
}

function pastDigits(bytes: Buffer, at: number): number {
  let end = at;
  while (end < bytes.length && isDigit(bytes[end] as number)) end += 1;
  return end;
}

function isDigit(code: number): boolean {
  return code >= zero && code <= nine;
}

function isExponent(code: number | undefined): boolean {
  return code === 0x65 || code === 0x45;
}

function endOfLiteral(bytes: Buffer, at: number, word: Buffer): number {
  for (let index = 0; index < word.length; index += 1) if (bytes[at + index] !== word[index]) return ~(at + index);
  return at + word.length;
}

/** The text of a valid JSON string between two offsets, which include its quotes. */
export function stringIn(bytes: Buffer, start: number, end: number): string {
  if (!hasEscape(bytes, start, end)) return bytes.toString('utf8', start + 1, end - 1);
  return JSON.parse(bytes.toString('utf8', start, end)) as string;
}

export function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  let at = start;
  while (at < end && bytes[at] !== backslash) at += 1;
  return at < end;
}

/** True if the string is this ASCII name, with or without escapes. The offsets include the quotes. */
export function isNamed(bytes: Buffer, start: number, end: number, name: string): boolean {
  const length = end - start - 2;
  if (length < name.length || length > 6 * name.length) return false;
  if (length > name.length) return hasEscape(bytes, start, end) && stringIn(bytes, start, end) === name;
  for (let index = 0; index < length; index += 1) {
    if (bytes[start + 1 + index] !== name.charCodeAt(index)) return false;
  }
  return true;
}
