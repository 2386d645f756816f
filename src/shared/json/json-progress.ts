import { byteTable, maxJsonLevels } from './json-scanner.ts';

/**
 * How far a JSON text has come: nothing but spaces, the beginning of a value, a whole value, or what no JSON text begins
 * with.
 */
export type JsonState = 'empty' | 'begun' | 'whole' | 'faulty';

const Expect = {
  value: 0,
  valueOrClose: 1,
  name: 2,
  nameOrClose: 3,
  colon: 4,
  commaOrClose: 5,
  end: 6,
} as const;
type Expect = (typeof Expect)[keyof typeof Expect];

/** Maximum characters of a number. A model writes shorter ones. */
const maxWordLength = 1_024;

const word = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
const numberBegins = /^-?(?:(?:0|[1-9]\d*)(?:\.|(?:\.\d+)?(?:[eE][+-]?\d*)?))?$/;
/** The characters of numbers and literals, and of what only looks like them. */
const isWordCharacter = byteTable('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-');
const isSpace = byteTable(' \t\r\n');

const quote = 0x22;
const backslash = 0x5c;
const unicode = 0x75;
const isEscapable = byteTable('"\\/bfnrtu');
const isHexDigit = byteTable('0123456789abcdefABCDEF');
const hexDigits = 4;

/**
 * Reads a JSON text (RFC 8259) that comes in pieces of any length, and keeps nothing of it. It accepts what `JSON.parse`
 * accepts, up to 256 levels.
 */
export class JsonProgress {
  /** The kind of each open level. */
  readonly #levels: boolean[] = [];
  #expect: Expect = Expect.value;
  #isInString = false;
  #isName = false;
  /** Whether a backslash in a string has come, and not what it escapes. */
  #isEscaping = false;
  /** Number of digits that are left of an escape in a string. */
  #digitsLeft = 0;
  /** The number or literal so far; empty outside of one. */
  #word = '';
  #hasBegun = false;
  #isFaulty = false;
  /** True also while the value may become an object. */
  isObject = false;

  get state(): JsonState {
    if (this.#isFaulty) return 'faulty';
    if (!this.#hasBegun) return 'empty';
    if (this.#word !== '' && !beginsWord(this.#word)) return 'faulty';
    const isWhole = this.#expect === Expect.end || (this.#levels.length === 0 && word.test(this.#word));
    return isWhole ? 'whole' : 'begun';
  }

  add(piece: string): void {
    let at = 0;
    while (at < piece.length && !this.#isFaulty) {
      if (this.#isEscaping) at = this.#readEscape(piece, at);
      else if (this.#digitsLeft > 0) at = this.#readDigit(piece, at);
      else if (this.#isInString) at = this.#readString(piece, at);
      else at = this.#readToken(piece, at);
    }
  }

  #readString(piece: string, start: number): number {
    for (let at = start; at < piece.length; at += 1) {
      const code = piece.charCodeAt(at);
      if (code === quote) {
        this.#endString();
        return at + 1;
      }
      if (code === backslash) {
        this.#isEscaping = true;
        return at + 1;
      }
      if (code < 0x20) return this.#fail(at);
    }
    return piece.length;
  }

  #readEscape(piece: string, at: number): number {
    const code = piece.charCodeAt(at);
    if (isEscapable[code] !== 1) return this.#fail(at);
    this.#isEscaping = false;
    if (code === unicode) this.#digitsLeft = hexDigits;
    return at + 1;
  }

  #readDigit(piece: string, at: number): number {
    if (isHexDigit[piece.charCodeAt(at)] !== 1) return this.#fail(at);
    this.#digitsLeft -= 1;
    return at + 1;
  }

  #endString(): void {
    this.#isInString = false;
    if (this.#isName) this.#expect = Expect.colon;
    else this.#endValue();
  }

  #readToken(piece: string, at: number): number {
    const code = piece.charCodeAt(at);
    if (isWordCharacter[code] === 1) return this.#readWord(piece, at);
    if (this.#word !== '' && !this.#endWord()) return this.#fail(at);
    if (isSpace[code] === 1) return at + 1;
    this.#hasBegun = true;
    return this.#take(piece.charAt(at)) ? at + 1 : this.#fail(at);
  }

  #readWord(piece: string, start: number): number {
    if (this.#word === '' && !this.#expectsValue) return this.#fail(start);
    this.#hasBegun = true;
    let at = start + 1;
    while (isWordCharacter[piece.charCodeAt(at)] === 1) at += 1;
    if (this.#word.length + at - start > maxWordLength) return this.#fail(start);
    this.#word += piece.slice(start, at);
    return at;
  }

  /** @returns whether it is a number or a literal */
  #endWord(): boolean {
    const isValue = word.test(this.#word);
    this.#word = '';
    this.#endValue();
    return isValue;
  }

  get #expectsValue(): boolean {
    return this.#expect === Expect.value || this.#expect === Expect.valueOrClose;
  }

  /** @returns whether the character may come */
  #take(character: string): boolean {
    switch (character) {
      case '{':
      case '[':
        return this.#expectsValue && this.#open(character === '{');
      case '}':
        return this.#close(true);
      case ']':
        return this.#close(false);
      case '"':
        return this.#beginString();
      case ':':
        return this.#move(Expect.colon, Expect.value);
      case ',':
        return this.#move(Expect.commaOrClose, this.#levels.at(-1) === true ? Expect.name : Expect.value);
      default:
        return false;
    }
  }

  #open(isObject: boolean): boolean {
    if (this.#levels.length === 0) this.isObject = isObject;
    this.#levels.push(isObject);
    this.#expect = isObject ? Expect.nameOrClose : Expect.valueOrClose;
    return this.#levels.length <= maxJsonLevels;
  }

  #close(isObject: boolean): boolean {
    const mayClose =
      this.#expect === Expect.commaOrClose || this.#expect === (isObject ? Expect.nameOrClose : Expect.valueOrClose);
    if (!mayClose || this.#levels.pop() !== isObject) return false;
    this.#endValue();
    return true;
  }

  #beginString(): boolean {
    this.#isName = this.#expect === Expect.name || this.#expect === Expect.nameOrClose;
    this.#isInString = this.#isName || this.#expectsValue;
    return this.#isInString;
  }

  #move(from: Expect, to: Expect): boolean {
    const mayMove = this.#expect === from;
    this.#expect = to;
    return mayMove;
  }

  #endValue(): void {
    this.#expect = this.#levels.length === 0 ? Expect.end : Expect.commaOrClose;
  }

  #fail(at: number): number {
    this.#isFaulty = true;
    return at;
  }
}

function beginsWord(text: string): boolean {
  return numberBegins.test(text) || ['true', 'false', 'null'].some((literal) => literal.startsWith(text));
}
