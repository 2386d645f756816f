import type { ChatChunk, Tokens } from './chat-event.ts';

/**
 * The progress of a streamed answer: the choices that have begun and ended, and whether another target may continue it.
 */
export class ChatProgress {
  readonly #expected: number;
  readonly #finished = new Set<number>();
  readonly #seen = new Set<number>();
  #text: string[] | null;
  tokens: Tokens | null = null;
  hasContent = false;

  /**
   * @param expected the number of requested choices
   * @param keepsText whether the text is kept, so that another provider can continue it
   */
  constructor(expected: number, keepsText: boolean) {
    this.#expected = expected;
    this.#text = keepsText ? [] : null;
  }

  add(chunk: ChatChunk): void {
    // No target continues a finished answer, so later text is not kept.
    if (this.#text !== null && !this.finished) this.#takeText(chunk.text);
    for (const index of chunk.choices) this.#seen.add(index);
    for (const index of chunk.finished) this.#finished.add(index);
    this.hasContent ||= chunk.hasContent;
    if (chunk.tokens !== null) this.tokens = chunk.tokens;
  }

  #takeText(text: string | null): void {
    if (text === null) this.#text = null;
    else if (text !== '') this.#text?.push(text);
  }

  /** Whether every requested or received choice has its finish reason. */
  get finished(): boolean {
    return this.#finished.size >= this.#expected && this.seenFinished;
  }

  /** Whether every received choice has its finish reason: some providers send fewer choices than requested. */
  get seenFinished(): boolean {
    return this.#finished.size > 0 && [...this.#seen].every((index) => this.#finished.has(index));
  }

  /** The text so far; null if it was not kept or is incomplete. */
  get text(): string | null {
    return this.#text === null ? null : this.#text.join('');
  }
}
