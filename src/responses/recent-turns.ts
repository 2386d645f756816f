import type { KeptTurn } from './turn.ts';
import { TurnText } from './turn-text.ts';

/** The place of a turn. Its content under another key, or of another project, is another one. */
interface TurnPlace {
  readonly projectId: string;
  readonly subject: string;
  readonly id: string;
}

/** The default maximum of memory for all turns. */
export const defaultRecentTurnBytes = 32 * 1024 * 1024;
/** Maximum memory for one turn. */
const maxBytesOfTurn = 128 * 1024;
/** Approximate memory of an outline, with each of its ancestors. */
const bytesOfOutline = 1_024;
const bytesOfId = 128;

interface Kept {
  readonly subject: string;
  readonly turn: KeptTurn;
  /** The approximate memory. */
  readonly bytes: number;
}

/**
 * The latest opened turns, because each turn of a conversation needs all before it. It only saves reading: a turn may
 * be dropped whenever another one is kept. The store knows whether a turn still exists.
 */
export class RecentTurns {
  readonly #maxBytes: number;
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  /** @param maxBytes of memory; 0 to keep nothing */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The turn; null if it is not in memory. */
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
    const { projectId, id } = turn.outline;
    const key = keyOf(projectId, id);
    const bytes = bytesOf(turn);
    if (bytes > Math.min(maxBytesOfTurn, this.#maxBytes) || this.#kept.get(key)?.subject === subject) return;
    this.#drop(key);
    this.#kept.set(key, { subject, turn: copyOf(turn), bytes });
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#drop(oldest);
    }
  }

  drop(projectId: string, ids: ReadonlyArray<string>): void {
    for (const id of ids) this.#drop(keyOf(projectId, id));
  }

  dropProject(projectId: string): void {
    for (const key of this.#kept.keys()) if (key.startsWith(keyOf(projectId, ''))) this.#drop(key);
  }

  #drop(key: string): void {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0;
    this.#kept.delete(key);
  }
}

/** A copy without the memory of other turns that were read together with it. */
function copyOf({ outline, text }: KeptTurn): KeptTurn {
  return { outline, text: new TurnText(Buffer.from(text.bytes), text.marks.slice()) };
}

function bytesOf({ outline: { ancestors }, text }: KeptTurn): number {
  return text.memoryBytes + bytesOfOutline + bytesOfId * (ancestors?.length ?? 0);
}

function keyOf(projectId: string, id: string): string {
  return `${projectId}/${id}`;
}
