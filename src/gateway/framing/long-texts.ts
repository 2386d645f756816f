import { randomBytes } from 'node:crypto';
import { type JsonListener, maxJsonLevels, pastEscape, pastPlainText } from '#shared/json/json-scanner.ts';
import type { ValuePlace } from './json-members.ts';
import type { Edit } from './splice.ts';

/** Minimum size of a text that is taken out. */
const minBytes = 64 * 1024;
/** Number of bytes of a long text that stay, because a reader looks at its beginning: `data:image/png;base64,`. */
const keptBytes = 256;

/** Files of a type that may be a plain text, which another form needs decoded. */
const textFile = /^"data:(?!(image|audio|video)\\?\/|application\\?\/pdf)/i;
/** Base64 in lines, which another form needs without them. */
const brokenBase64 = /^"(data:[^,"]{0,100},)?(\\[rn])*([A-Za-z0-9+/_-]|\\\/){60,}\\[rn]/i;
/** What a provider needs back, which the gateway reads. */
const ownSignature = /^"switchyard:/;
const lookedAtBytes = keptBytes;
const maxFileBytes = 8 * 1024 * 1024;

const quote = 0x22;
const backslash = 0x5c;

/**
 * Takes long texts out of a JSON body that is parsed and written again in another form. Only their beginnings are
 * parsed, each with a mark after it, and their bytes are put in place of the marks when the new body is written. So a
 * picture of 30 MB is copied, not parsed.
 */
export class LongTexts {
  /** The mark of texts. No client can know it before. */
  readonly #mark = `<${randomBytes(16).toString('hex')}:`;
  #bytes: Buffer = Buffer.alloc(0);
  #found: ValuePlace[] = [];
  #fileBytesLeft = maxFileBytes;
  /** What was taken out: the text of JSON inside of the quotes. */
  #cut: ValuePlace[] = [];

  /** Finds the texts while a scanner reads the body for another listener, too. */
  finderIn(bytes: Buffer, other: JsonListener): JsonListener {
    this.#bytes = bytes;
    this.#found = [];
    this.#fileBytesLeft = maxFileBytes;
    const starts: number[] = new Array(maxJsonLevels + 1).fill(0);
    return {
      maxLevel: maxJsonLevels,
      begin: (level, start, nameStart, nameEnd) => {
        starts[level] = start;
        if (level <= other.maxLevel) other.begin(level, start, nameStart, nameEnd);
      },
      end: (level, end) => {
        const valueStart = starts[level] as number;
        if (end - valueStart > minBytes && bytes[valueStart] === quote && !this.#stays(valueStart, end))
          this.#found.push({ valueStart, end });
        if (level <= other.maxLevel) other.end(level, end);
      },
    };
  }

  #stays(valueStart: number, end: number): boolean {
    const beginning = this.#bytes.toString('latin1', valueStart, valueStart + lookedAtBytes);
    const isReadWhole = [textFile, brokenBase64, ownSignature].some((form) => form.test(beginning));
    if (!isReadWhole || end - valueStart > this.#fileBytesLeft) return false;
    this.#fileBytesLeft -= end - valueStart;
    return true;
  }

  /**
   * Takes out the found texts, except those inside of other places.
   * @returns the edits that put marks in their place
   */
  cutsOutside(places: ReadonlyArray<ValuePlace>): ReadonlyArray<Edit> {
    const long = places.filter(({ valueStart, end }) => end - valueStart > minBytes);
    const isInside = ({ valueStart, end }: ValuePlace) =>
      long.some((place) => place.valueStart <= valueStart && end <= place.end);
    this.#cut = this.#found
      .filter((text) => !isInside(text))
      .map(({ valueStart, end }) => ({ valueStart: this.#endOfBeginning(valueStart + 1), end: end - 1 }));
    return this.#cut.map(({ valueStart, end }, index) => ({ start: valueStart, end, text: `${this.#mark}${index}>` }));
  }

  /** Puts the texts in place of their marks. */
  putInto(body: Buffer): Buffer {
    if (this.#cut.length === 0) return body;
    const pieces: Buffer[] = [];
    let from = 0;
    for (let at = body.indexOf(this.#mark); at !== -1; at = body.indexOf(this.#mark, from)) {
      const end = body.indexOf('>', at);
      const place = this.#cut[Number(body.toString('latin1', at + this.#mark.length, end))];
      pieces.push(body.subarray(from, at), this.#bytes.subarray(place?.valueStart, place?.end));
      from = end + 1;
    }
    return Buffer.concat([...pieces, body.subarray(from)]);
  }

  /** Where the rest of a text begins: after a whole escape, or a whole character. */
  #endOfBeginning(start: number): number {
    const bytes = this.#bytes;
    let at = start;
    while (at < start + keptBytes)
      at = bytes[at] === backslash ? pastEscape(bytes, at) : pastPlainText(bytes, at, start + keptBytes);
    while (((bytes[at] as number) & 0xc0) === 0x80) at += 1;
    return at;
  }
}
