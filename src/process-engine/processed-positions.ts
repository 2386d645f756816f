import { PositionWaiter } from '#projection-engine/progress/position-waiter.ts';
import type { WatchedCheckpoint } from './checkpoints/checkpoint-store.ts';

/**
 * The callers that wait until a process has passed a position, at most ten thousand. The wait of any further caller
 * ends at once, and so does every wait for a stopped process.
 */
export class ProcessedPositions {
  readonly #waits = new PositionWaiter();
  #lastAppended = 0;
  #position = 0;

  constructor() {
    // Callers wait for the process until its state is known.
    this.#waits.update([{ position: 0, live: true }]);
  }

  /** Whether a caller waits. */
  get waiting(): boolean {
    return this.#waits.waiting;
  }

  /** Sets the current checkpoint of the process. */
  update({ position, lastAppended, failure }: WatchedCheckpoint): void {
    this.#lastAppended = lastAppended;
    this.#position = position;
    this.#waits.update([{ position, live: failure === null }]);
  }

  /** Forgets that the process has stopped. The next caller waits until its state is known again. */
  forgetStop(): void {
    this.#waits.update([{ position: this.#position, live: true }]);
  }

  /**
   * @returns the position of the last event that the process has appended by then; null after the time limit, or if
   *   the process has stopped
   */
  async passed(position: number, milliseconds: number): Promise<number | null> {
    await this.#waits.wait([0], position, false, milliseconds);
    return this.#position >= position ? this.#lastAppended : null;
  }

  /** Ends every wait. */
  close(): void {
    this.#waits.close();
  }
}
