import { countValues } from '#shared/json/json.ts';
import type { KeptTurn } from './turn.ts';

/** What a turn is known by: its content under another key, or of another project, is another one. */
interface TurnPlace {
  readonly projectId: string;
  readonly subject: string;
  readonly id: string;
}

/** The bytes of memory of all turns that are kept, with what is made of them, if nothing else is configured. */
export const defaultRecentTurnBytes = 32 * 1024 * 1024;
/** The most bytes of a turn as it is stored. */
const maxStoredBytesOfTurn = 88 * 1024;

/** The most texts of one turn that may be kept with it, each for another provider. */
export const maxTextsOfTurn = 2;

/**
 * The bytes of memory for each stored one: the items, their texts, and reasoning with a mark. What is stored is in Base64,
 * so that these are four for each byte of the text.
 */
const bytesOfStored = 3;
/** The most bytes of memory that a JSON value takes, with its place in lists. */
const bytesOfValue = 96;

interface Kept {
  readonly subject: string;
  readonly turn: KeptTurn;
  /** Of memory, about. */
  readonly bytes: number;
}

/**
 * Keeps opened turns in memory, the latest ones, because each turn of a conversation needs all before it. It only saves
 * reading: a turn may be dropped whenever another one is kept. Whether a turn still exists is for the store to say.
 */
export class RecentTurns {
  readonly #maxBytes: number;
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  /** @param maxBytes maximum bytes of memory; 0 to keep nothing */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns a turn; null if it is not kept. */
  find({ projectId, subject, id }: TurnPlace): KeptTurn | null {
    const key = keyOf(projectId, id);
    const kept = this.#kept.get(key);
    if (kept?.subject !== subject) return null;
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    return kept.turn;
  }

  /** @param subject whose key has opened it */
  keep(subject: string, turn: KeptTurn): void {
    const { projectId, id, bytes: storedBytes } = turn.outline;
    const key = keyOf(projectId, id);
    if (storedBytes > maxStoredBytesOfTurn || this.#kept.get(key)?.subject === subject) return;
    this.#drop(key);
    const bytes = storedBytes * bytesOfStored + valuesOf(turn) * bytesOfValue;
    this.#kept.set(key, { subject, turn, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
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
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0;
    this.#kept.delete(key);
  }
}

function valuesOf({ input, response }: KeptTurn): number {
  return input.reduce((sum, item) => sum + countValues(item), countValues(response));
}

function keyOf(projectId: string, id: string): string {
  return `${projectId}/${id}`;
}
