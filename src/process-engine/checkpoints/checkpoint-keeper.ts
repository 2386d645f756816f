import { delay } from '#shared/async/delay.ts';
import type { Checkpoint } from './checkpoint-store.ts';

export interface CheckpointKeeperOptions {
  /** The stored checkpoint. */
  readonly stored: Checkpoint;
  /** Stores a checkpoint. */
  readonly write: (checkpoint: Checkpoint) => Promise<void>;
  /**
   * The interval in which a moving checkpoint is written. After a crash the process sees the events since the last
   * write again.
   */
  readonly intervalMs: number;
  /** Called once, when a write fails that no caller waits for. `end` rejects with its error. */
  readonly onFailure: () => void;
  /** Waits so many milliseconds, or until the signal aborts. Default `delay`. */
  readonly pause?: typeof delay;
}

/**
 * Writes the checkpoint of a process. It writes one at a time, always the newest, and nothing while the position does
 * not move.
 */
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

  /** Has a checkpoint written after the interval, if none that is as new was written by then. */
  move(checkpoint: Checkpoint): void {
    this.#want(checkpoint);
    if (this.#hasMoved && this.#failure === null && !this.#ending.signal.aborted) this.#saving ??= this.#save();
  }

  /** Writes a checkpoint now. @throws the error of the write */
  async store(checkpoint: Checkpoint): Promise<void> {
    this.#want(checkpoint);
    while (this.#hasMoved) {
      if (this.#failure !== null) throw this.#failure.error;
      await this.#write();
    }
  }

  /**
   * Writes the last checkpoint, unless it is written already. Writes nothing afterwards.
   * @throws the error of the write
   */
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

  /** Writes after each interval, until the position stops moving. */
  async #save(): Promise<void> {
    const { intervalMs, onFailure, pause = delay } = this.#options;
    try {
      while (this.#hasMoved) {
        await pause(intervalMs, this.#ending.signal);
        await this.store(this.#wanted);
      }
    } catch {
      // `#failure` holds the error.
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
