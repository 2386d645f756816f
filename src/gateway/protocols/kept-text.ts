import { GatheredText } from '#gateway/neutral/gathered-text.ts';

/** Maximum bytes of a text that another target may continue. A request with a longer one would be refused. */
const maxBytes = 1024 * 1024;

/** The text of an answer so far, which another target can continue. */
export class KeptText {
  /** Null if it is not kept, or is not the whole content. */
  #gathered: GatheredText | null;

  constructor(isKept: boolean) {
    this.#gathered = isKept ? new GatheredText() : null;
  }

  get value(): string | null {
    return this.#gathered?.text ?? null;
  }

  /** The bytes that it takes. */
  get bytes(): number {
    return this.#gathered?.bytes ?? 0;
  }

  add(text: string): void {
    if (this.#gathered === null || text === '') return;
    this.#gathered.add(text);
    if (this.bytes > maxBytes) this.drop();
  }

  /** Keeps nothing any more. */
  drop(): void {
    this.#gathered = null;
  }
}
