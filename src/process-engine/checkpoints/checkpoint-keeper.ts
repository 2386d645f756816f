import { setTimeout as sleep } from 'node:timers/promises';
import type { Checkpoint } from './checkpoint-store.ts';

/** How often a checkpoint that moves is written: what lies between is reacted to again after a crash. */
const saveIntervalMs = 100;

/** Writes a process's checkpoint whenever it has moved: one write at a time, each of the newest position. */
export class CheckpointKeeper {
  readonly #store: (checkpoint: Checkpoint) => Promise<void>;
  #wanted: Checkpoint;
  #written: number;
  #writing: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;
  readonly #onFailure: () => void;

  /**
   * @param store writes one
   * @param stored what is stored now
   * @param onFailure called once, when a write failed; `saved` rejects with the error
   */
  constructor(store: (checkpoint: Checkpoint) => Promise<void>, stored: Checkpoint, onFailure: () => void) {
    this.#store = store;
    this.#wanted = stored;
    this.#written = stored.position;
    this.#onFailure = onFailure;
  }

  /** Writes a checkpoint soon, if its position has moved. */
  move(checkpoint: Checkpoint): void {
    if (checkpoint.position > this.#wanted.position) this.#wanted = checkpoint;
    if (this.#writing !== null || this.#wanted.position === this.#written || this.#failure !== null) return;
    this.#writing = this.#write().finally(() => {
      this.#writing = null;
      this.move(this.#wanted);
    });
  }

  /** Writes the last position, if it is not yet. @throws what a write failed with */
  async saved(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
    if (this.#failure !== null) throw this.#failure.error;
  }

  async #write(): Promise<void> {
    const checkpoint = this.#wanted;
    try {
      await this.#store(checkpoint);
      this.#written = checkpoint.position;
      await sleep(saveIntervalMs);
    } catch (error) {
      this.#failure = { error };
      this.#onFailure();
    }
  }
}
