import { keptBytesOf } from '#gateway/framing/stream-interpreter.ts';

/** Maximum bytes of a text that another target may continue. A request with a longer one would be refused. */
const maxBytes = 1024 * 1024;

/** The text of an answer so far, which another target can continue. */
export class KeptText {
  /** Null if it is not kept, or is not the whole content. */
  #pieces: string[] | null;
  /** The bytes that it takes. */
  bytes = 0;

  constructor(isKept: boolean) {
    this.#pieces = isKept ? [] : null;
  }

  get value(): string | null {
    return this.#pieces?.join('') ?? null;
  }

  add(text: string): void {
    if (this.#pieces === null || text === '') return;
    this.#pieces.push(text);
    this.bytes += keptBytesOf(text);
    if (this.bytes > maxBytes) this.drop();
  }

  /** Keeps nothing any more. */
  drop(): void {
    this.#pieces = null;
    this.bytes = 0;
  }
}
