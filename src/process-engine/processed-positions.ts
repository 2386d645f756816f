import { PositionWaiter } from '#projection-engine/progress/position-waiter.ts';
import type { WatchedCheckpoint } from './checkpoints/checkpoint-store.ts';

/**
 * Those who wait until a process has passed a position: ten thousand at most. The wait of one more ends at once, and so
 * does every wait for a process that has stopped.
 */
export class ProcessedPositions {
  readonly #waits = new PositionWaiter();
  #lastAppended = 0;
  #position = 0;

  constructor() {
    // Until something is known of the process it is waited for.
    this.#waits.update([{ position: 0, live: true }]);
  }

  /** Whether anybody waits. */
  get waiting(): boolean {
    return this.#waits.waiting;
  }

  /** Sets the process's present checkpoint. */
  update({ position, lastAppended, failure }: WatchedCheckpoint): void {
    this.#lastAppended = lastAppended;
    this.#position = position;
    this.#waits.update([{ position, live: failure === null }]);
  }

  /** Forgets that the process had stopped: whoever comes next waits until it is known again. */
  forgetStop(): void {
    this.#waits.update([{ position: this.#position, live: true }]);
  }

  /**
   * @returns the position of the last event that the process has appended by then; null when the time ran out, or it
   * has
   *   stopped
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
