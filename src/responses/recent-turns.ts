import type { KeptTurn } from './turn.ts';

/** What a turn is known by: its content under another key, or of another project, is another one. */
interface TurnPlace {
  readonly subject: string;
  readonly id: string;
}

/** The most characters of all turns that are kept. */
const maxCharacters = 8 * 1024 * 1024;
const maxCharactersOfTurn = 64 * 1024;

interface Kept {
  readonly turn: KeptTurn;
  readonly characters: number;
}

/**
 * Keeps opened turns in memory, the latest ones, because each turn of a conversation needs all before it. Whether a turn
 * still exists is for the store to say.
 */
export class RecentTurns {
  readonly #kept = new Map<string, Kept>();
  #characters = 0;

  /** Returns a turn; null if it is not kept. */
  find({ subject, id }: TurnPlace): KeptTurn | null {
    const key = `${subject}/${id}`;
    const kept = this.#kept.get(key);
    if (kept === undefined) return null;
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    return kept.turn;
  }

  /** @param characters of its text */
  keep({ subject, id }: TurnPlace, turn: KeptTurn, characters: number): void {
    const key = `${subject}/${id}`;
    if (characters > maxCharactersOfTurn || this.#kept.has(key)) return;
    this.#kept.set(key, { turn, characters });
    this.#characters += characters;
    for (const [oldest, { characters: freed }] of this.#kept) {
      if (this.#characters <= maxCharacters) return;
      this.#kept.delete(oldest);
      this.#characters -= freed;
    }
  }
}
