import type { DocumentValue } from '#read-store/read-store.ts';
import { recordLast } from '#read-store/stored-document.ts';

/** `value` is null if the document is known not to exist. */
interface KnownDocument {
  readonly id: string;
  readonly order: number;
  readonly position: number;
  readonly value: DocumentValue | null;
  readonly bytes: number;
}

/** A document as a value, or as its JSON text while no event touches it. */
export class BufferedDocument {
  readonly id: string;
  order: number;
  position: number;
  /** The size, estimated at its last read or write. */
  bytes: number;
  /** True if it differs from the stored document. */
  changed = false;
  /** True if an event was applied to it since the last commit. */
  used = false;
  /** The number of the last event that was applied to it, by the buffer's count. */
  applied = 0;
  #value: DocumentValue | null;
  /** The text; null while it is not known. */
  #text: string | null = null;
  #isText = false;

  constructor({ id, order, position, value, bytes }: KnownDocument) {
    this.id = id;
    this.order = order;
    this.position = position;
    this.bytes = bytes;
    this.#value = value;
  }

  /** Null if the document is known not to exist. After the first read the value is kept, until `keepText`. */
  get value(): DocumentValue | null {
    this.#value = this.peek();
    this.#isText = false;
    return this.#value;
  }

  set value(value: DocumentValue | null) {
    this.#value = value;
    this.#text = null;
    this.#isText = false;
  }

  /** The value as it is kept. A text stays a text. */
  peek(): DocumentValue | null {
    return this.#isText && this.#text !== null ? JSON.parse(this.#text) : this.#value;
  }

  /** Notes the text, which is valid until the value changes. */
  noteText(text: string): void {
    this.#text = text;
  }

  /** Keeps the text in place of the value. @returns its length; null if the text is not known, and the value is kept */
  keepText(): number | null {
    if (this.#text === null) return null;
    this.#value = null;
    this.#isText = true;
    return this.#text.length;
  }
}

const bytesOfCharacter = 8;
const bytesOfContainer = 56;

/**
 * The memory of a parsed JSON text, rather too high than too low. Texts take little. Arrays and objects, even empty
 * ones, take 56 bytes each in V8, for two characters of JSON.
 */
export function heapBytes(json: string): number {
  return bytesOfCharacter * json.length + bytesOfContainer * (occurrences(json, '{') + occurrences(json, '['));
}

/** Counts with the engine's own search, which is many times faster than a loop over the characters. */
function occurrences(text: string, character: string): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) count += 1;
  return count;
}

/** The maximum for a text of which only the length is known. */
export function maxHeapBytes(characters: number): number {
  return (bytesOfCharacter + bytesOfContainer / 2) * characters;
}

/** The text of the document; empty for null. @throws Error for a value that JSON cannot represent */
export function documentText(id: string, value: DocumentValue | null): string {
  if (value === null) return '';
  const text: unknown = JSON.stringify(recordLast(value));
  if (typeof text !== 'string') throw new Error(`Document ${id} is a ${typeof value}, which JSON cannot hold.`);
  return text;
}
