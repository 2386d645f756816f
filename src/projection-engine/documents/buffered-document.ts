import type { DocumentValue } from '#read-store/read-store.ts';

/** What a document is known by when it comes into memory. `value` is null when it is known not to exist. */
interface KnownDocument {
  readonly id: string;
  readonly order: number;
  readonly position: number;
  readonly value: DocumentValue | null;
  readonly bytes: number;
}

/** A document in memory: as a value, or as its JSON text while no event touches it. */
export class BufferedDocument {
  readonly id: string;
  order: number;
  position: number;
  /** Of memory, by estimate, as of when it was last read or written. */
  bytes: number;
  /** It differs from what is stored. */
  changed = false;
  /** An event was applied to it since the last commit. */
  used = false;
  /** The last event that was applied to it, by the buffer's count of them. */
  applied = 0;
  #value: DocumentValue | null;
  /** Its text, where that is known; null while it is not. */
  #text: string | null = null;
  #isText = false;

  constructor({ id, order, position, value, bytes }: KnownDocument) {
    this.id = id;
    this.order = order;
    this.position = position;
    this.bytes = bytes;
    this.#value = value;
  }

  /** Null when it is known not to exist. A text that is read once is a value until `keepText`. */
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

  /** The value, without becoming one where it is kept as a text. */
  peek(): DocumentValue | null {
    return this.#isText && this.#text !== null ? JSON.parse(this.#text) : this.#value;
  }

  /** Says what its JSON text is, as long as its value does not change. */
  noteText(text: string): void {
    this.#text = text;
  }

  /** Keeps the text in place of the value. @returns its length; null where it is not known, and the value is kept */
  keepText(): number | null {
    if (this.#text === null) return null;
    this.#value = null;
    this.#isText = true;
    return this.#text.length;
  }
}
