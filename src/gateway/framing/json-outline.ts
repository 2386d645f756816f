import { maxJsonLevels, pastPlainText } from '#shared/json/json-scanner.ts';
import { parseForeign } from './foreign-json.ts';

/** Maximum size of a text. Longer ones are cut. Types, ids, reasons and counts are shorter. */
const maxTextBytes = 1024;
/** The place of a longer text has this. */
export const cutText = '...';

const maxOutlineBytes = 4 * 1024 * 1024;
const firstBytes = 4 * 1024;

/** Where an event has the error of a provider: in itself, in its response or in a choice. */
const errorPaths: ReadonlySet<string> = new Set(['error', 'response.error', 'choices..error']);
const namesOfPaths: ReadonlySet<string> = new Set(['error', 'response', 'choices']);
const maxErrorLevel = 3;

const space = 0x20;
const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
/** The first letter of null. */
const letterN = 0x6e;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * The outline of JSON that arrives in pieces: all of it but its long texts, each of which is three dots. So an event with
 * a picture of any size is known by a few hundred bytes. What it makes of a text that is not JSON is not JSON either, or
 * differs from it inside of a text alone.
 */
export class JsonOutline {
  #bytes = Buffer.allocUnsafe(firstBytes);
  #length = 0;
  /** What closes the arrays and objects that are open. */
  readonly #closers: number[] = [];
  /** How much of the outline is JSON after closing what is open. */
  #closableLength = 0;
  #isInText = false;
  #isEscaped = false;
  #isCut = false;
  /** Where the text begins that is being read, after its quote. */
  #textStart = 0;
  /** Whether the next text of the innermost object is a name. */
  #isNameNext = false;
  /** The name of the first levels that is being read, if it is in the path of an error. */
  readonly #path: string[] = [];
  /** Where the last name ends. */
  #nameEnd = 0;
  #isErrorNext = false;
  /** Whether the error of a provider has begun in it. */
  hasError = false;
  /** Whether it has more bytes or levels than it may have. The rest is not read then. */
  isTooLarge = false;

  get bytes(): number {
    return this.#bytes.length;
  }

  get text(): string {
    return this.#bytes.toString('utf8', 0, this.#length);
  }

  /** The outline as JSON: what is open is closed. */
  get closedText(): string {
    const end = String.fromCharCode(...this.#closers.toReversed());
    return this.#bytes.toString('utf8', 0, this.#closableLength) + end;
  }

  feed(piece: Buffer): void {
    let at = 0;
    while (at < piece.length && !this.isTooLarge) {
      if (this.#isInText) at = this.#readText(piece, at);
      else {
        this.#readStructure(piece[at] as number);
        at += 1;
      }
    }
  }

  #readStructure(byte: number): void {
    this.#put(byte);
    if (this.#isErrorNext && byte > space) {
      this.hasError ||= byte !== letterN;
      this.#isErrorNext = false;
    }
    if (byte === quote) {
      this.#isInText = true;
      this.#textStart = this.#length;
    } else if (byte === openBrace || byte === openBracket) this.#open(byte === openBrace ? closeBrace : closeBracket);
    else if (byte === closeBrace || byte === closeBracket) this.#close();
    else if (byte === comma) this.#isNameNext = this.#closers.at(-1) === closeBrace;
    else if (byte === colon) this.#endName();
  }

  #endName(): void {
    this.#isNameNext = false;
    const level = this.#closers.length;
    if (level === 0 || level > maxErrorLevel) return;
    const text = this.#bytes.toString('utf8', this.#textStart, this.#nameEnd);
    const name = text.includes('\\') ? String(parseForeign(`"${text}"`)) : text;
    this.#path[level - 1] = namesOfPaths.has(name) ? name : '';
    this.#isErrorNext = errorPaths.has(this.#path.slice(0, level).join('.'));
  }

  #open(closer: number): void {
    if (this.#closers.length === maxJsonLevels) this.isTooLarge = true;
    this.#closers.push(closer);
    if (this.#closers.length <= maxErrorLevel) this.#path[this.#closers.length - 1] = '';
    this.#closableLength = this.#length;
    this.#isNameNext = closer === closeBrace;
  }

  #close(): void {
    this.#closers.pop();
    this.#closableLength = this.#length;
    this.#isNameNext = false;
  }

  /** Reads a part of a text. @returns where the rest of the piece begins */
  #readText(piece: Buffer, start: number): number {
    const end = this.#isEscaped ? start : pastPlainText(piece, start, piece.length);
    this.#putText(piece, start, end);
    if (end === piece.length) return end;
    const byte = piece[end] as number;
    if (byte === quote && !this.#isEscaped) this.#endText();
    else {
      this.#putText(piece, end, end + 1);
      this.#isEscaped = byte === backslash && !this.#isEscaped;
    }
    return end + 1;
  }

  #endText(): void {
    this.#isInText = false;
    if (!this.#isCut) this.#putQuote();
    this.#isCut = false;
  }

  #putText(piece: Buffer, start: number, end: number): void {
    if (this.#isCut) return;
    if (this.#length - this.#textStart + end - start > maxTextBytes) this.#cut();
    else {
      this.#makeRoomFor(end - start);
      this.#length += piece.copy(this.#bytes, this.#length, start, end);
    }
  }

  #cut(): void {
    this.#isCut = true;
    this.#length = this.#textStart;
    this.#makeRoomFor(cutText.length);
    this.#length += this.#bytes.write(cutText, this.#length);
    this.#putQuote();
  }

  /** Ends a text, which is closable if it is a value. */
  #putQuote(): void {
    if (this.#isNameNext) this.#nameEnd = this.#length;
    this.#put(quote);
    if (!this.#isNameNext) this.#closableLength = this.#length;
  }

  #put(byte: number): void {
    this.#makeRoomFor(1);
    this.#bytes[this.#length] = byte;
    this.#length += 1;
  }

  #makeRoomFor(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    this.isTooLarge ||= needed > maxOutlineBytes;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
