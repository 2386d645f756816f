import { PositionWaits } from '#read-store/position-waits.ts';
import type { Checkpoint } from './checkpoint-store.ts';

/** Those who wait until a process has passed a position: ten thousand at most, more are told at once that it has not. */
export class PassedPositions {
  readonly #waits = new PositionWaits();
  #lastAppended = 0;

  /** Whether anybody waits. */
  get waiting(): boolean {
    return this.#waits.waiting;
  }

  /** Tells where the process stands now. */
  update({ position, lastAppended }: Checkpoint): void {
    this.#lastAppended = lastAppended;
    this.#waits.update([{ position, live: true }]);
  }

  /** @returns the position of the last event that the process has appended by then; null when the time ran out */
  async passed(position: number, milliseconds: number): Promise<number | null> {
    const outcome = await this.#waits.wait([0], position, true, milliseconds);
    return outcome === 'reached' ? this.#lastAppended : null;
  }

  /** Ends every wait. */
  close(): void {
    this.#waits.close();
  }
}
