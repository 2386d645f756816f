import type { ChatChunk, Tokens } from './chat-event.ts';

/** How far a streamed answer is: which choices have begun and ended, and whether another target may continue it. */
export class ChatProgress {
  readonly #expected: number;
  readonly #finished = new Set<number>();
  readonly #seen = new Set<number>();
  #text: string[] | null;
  tokens: Tokens | null = null;
  hasContent = false;

  /**
   * @param expected the choices that the request asks for
   * @param keepsText whether the text is kept, for another provider to continue
   */
  constructor(expected: number, keepsText: boolean) {
    this.#expected = expected;
    this.#text = keepsText ? [] : null;
  }

  take(chunk: ChatChunk): void {
    // No target continues a finished answer: what a provider adds then is not kept.
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

  /** Every choice that was asked for or seen has its reason for the end. */
  get finished(): boolean {
    return this.#finished.size >= this.#expected && this.seenFinished;
  }

  /** Every choice that was seen has it: some providers give fewer than they are asked for. */
  get seenFinished(): boolean {
    return this.#finished.size > 0 && [...this.#seen].every((index) => this.#finished.has(index));
  }

  /** The text so far; null where it was not kept, or is not all that there is. */
  get text(): string | null {
    return this.#text === null ? null : this.#text.join('');
  }
}
