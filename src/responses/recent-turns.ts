import type { KeptTurn } from './turn.ts';

/** What a turn is known by: its content under another key, or of another project, is another one. */
interface TurnPlace {
  readonly projectId: string;
  readonly subject: string;
  readonly id: string;
}

/** The most characters of all turns that are kept. */
const maxCharacters = 8 * 1024 * 1024;
const maxCharactersOfTurn = 64 * 1024;

interface Kept {
  readonly subject: string;
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
  find({ projectId, subject, id }: TurnPlace): KeptTurn | null {
    const key = keyOf(projectId, id);
    const kept = this.#kept.get(key);
    if (kept?.subject !== subject) return null;
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    return kept.turn;
  }

  /** @param characters of its text */
  keep({ projectId, subject, id }: TurnPlace, turn: KeptTurn, characters: number): void {
    const key = keyOf(projectId, id);
    if (characters > maxCharactersOfTurn || this.#kept.get(key)?.subject === subject) return;
    this.#drop(key);
    this.#kept.set(key, { subject, turn, characters });
    this.#characters += characters;
    for (const oldest of this.#kept.keys()) {
      if (this.#characters <= maxCharacters) return;
      this.#drop(oldest);
    }
  }

  /** Drops turns that are removed. */
  drop(projectId: string, ids: ReadonlyArray<string>): void {
    for (const id of ids) this.#drop(keyOf(projectId, id));
  }

  /** Drops all turns of a project. */
  dropProject(projectId: string): void {
    for (const key of this.#kept.keys()) if (key.startsWith(keyOf(projectId, ''))) this.#drop(key);
  }

  #drop(key: string): void {
    this.#characters -= this.#kept.get(key)?.characters ?? 0;
    this.#kept.delete(key);
  }
}

function keyOf(projectId: string, id: string): string {
  return `${projectId}/${id}`;
}
