import { GatheredText } from '#gateway/neutral/gathered-text.ts';

/** Maximum size of a text that another target may continue. A request with a longer one would be refused. */
const maxBytes = 1024 * 1024;

/** The text of an answer so far; another target can continue it. */
export class KeptText {
  /** The text; null if it is not kept, or is not the whole content. */
  #gathered: GatheredText | null;

  constructor(isKept: boolean) {
    this.#gathered = isKept ? new GatheredText() : null;
  }

  get value(): string | null {
    return this.#gathered?.text ?? null;
  }

  get bytes(): number {
    return this.#gathered?.bytes ?? 0;
  }

  add(text: string): void {
    if (this.#gathered === null || text === '') return;
    this.#gathered.add(text);
    if (this.bytes > maxBytes) this.drop();
  }

  drop(): void {
    this.#gathered = null;
  }
}
