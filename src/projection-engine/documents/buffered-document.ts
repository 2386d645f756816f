import type { DocumentValue } from '#read-store/read-store.ts';

/** The data of a document that is added to memory. `value` is null if the document is known not to exist. */
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
  /** Its estimated bytes of memory at its last read or write. */
  bytes: number;
  /** Whether it differs from the stored document. */
  changed = false;
  /** Whether an event was applied to it since the last commit. */
  used = false;
  /** The number of the last event that was applied to it, by the buffer's count. */
  applied = 0;
  #value: DocumentValue | null;
  /** Its text; null while it is not known. */
  #text: string | null = null;
  #isText = false;

  constructor({ id, order, position, value, bytes }: KnownDocument) {
    this.id = id;
    this.order = order;
    this.position = position;
    this.bytes = bytes;
    this.#value = value;
  }

  /**
   * The value; null if the document is known not to exist. After the first read the value is kept, until `keepText`.
   */
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

  /** Returns the value, and keeps a text as a text. */
  peek(): DocumentValue | null {
    return this.#isText && this.#text !== null ? JSON.parse(this.#text) : this.#value;
  }

  /** Sets its JSON text, which is valid until the value changes. */
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
