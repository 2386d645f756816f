import { delay } from '#shared/async/delay.ts';
import type { Checkpoint } from './checkpoint-store.ts';

export interface CheckpointKeeperOptions {
  /** What is stored now. */
  readonly stored: Checkpoint;
  /** Stores one. */
  readonly write: (checkpoint: Checkpoint) => Promise<void>;
  /** A checkpoint that moves is written so often: what lies between is seen again after a crash. */
  readonly intervalMs: number;
  /** Called once, when a write failed that nothing waits for; `end` rejects with its error. */
  readonly onFailure: () => void;
  /** Waits, for less when the signal aborts. Default `delay`. */
  readonly pause?: typeof delay;
}

/** Writes a process's checkpoint: one write at a time, each of the newest position, and none while that does not move. */
export class CheckpointKeeper {
  readonly #options: CheckpointKeeperOptions;
  readonly #ending = new AbortController();
  #wanted: Checkpoint;
  #written: number;
  #writing: Promise<void> | null = null;
  #saving: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(options: CheckpointKeeperOptions) {
    this.#options = options;
    this.#wanted = options.stored;
    this.#written = options.stored.position;
  }

  /** Writes a checkpoint after the interval, if its position has moved by then and is not written. */
  move(checkpoint: Checkpoint): void {
    this.#want(checkpoint);
    if (this.#hasMoved && this.#failure === null && !this.#ending.signal.aborted) this.#saving ??= this.#save();
  }

  /** Writes a checkpoint now. @throws what a write failed with */
  async store(checkpoint: Checkpoint): Promise<void> {
    this.#want(checkpoint);
    while (this.#hasMoved) {
      if (this.#failure !== null) throw this.#failure.error;
      await this.#write();
    }
  }

  /** Writes the last checkpoint, if it is not yet, and none after it. @throws what a write failed with */
  async end(): Promise<void> {
    this.#ending.abort();
    await this.#saving;
    await this.store(this.#wanted);
  }

  get #hasMoved(): boolean {
    return this.#wanted.position > this.#written;
  }

  #want(checkpoint: Checkpoint): void {
    if (checkpoint.position > this.#wanted.position) this.#wanted = checkpoint;
  }

  /** Writes after each interval, until the position has not moved. */
  async #save(): Promise<void> {
    const { intervalMs, onFailure, pause = delay } = this.#options;
    try {
      while (this.#hasMoved) {
        await pause(intervalMs, this.#ending.signal);
        await this.store(this.#wanted);
      }
    } catch {
      // It is kept as the failure.
      onFailure();
    } finally {
      this.#saving = null;
    }
  }

  #write(): Promise<void> {
    this.#writing ??= this.#writeWanted().finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }

  async #writeWanted(): Promise<void> {
    const checkpoint = this.#wanted;
    try {
      await this.#options.write(checkpoint);
      this.#written = checkpoint.position;
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }
}
