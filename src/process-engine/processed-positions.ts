import { Positions } from '#positions/positions.ts';
import type { WatchedCheckpoint } from './checkpoints/checkpoint-store.ts';

const name = 'process';

/**
 * The callers that wait until a process has passed a position, at most ten thousand. The wait of any further caller
 * ends at once, and so does every wait for a stopped process.
 */
export class ProcessedPositions {
  readonly #waits = new Positions();
  #lastAppended = 0;
  #position = 0;

  constructor() {
    // Callers wait for the process until its state is known.
    this.#waits.update('process', new Map([[name, { position: 0, live: true }]]));
  }

  /** Sets the current checkpoint of the process. */
  update({ position, lastAppended, failure }: WatchedCheckpoint): void {
    this.#lastAppended = lastAppended;
    this.#position = position;
    this.#waits.update('process', new Map([[name, { position, live: failure === null }]]));
  }

  /**
   * @returns the position of the last event that the process has appended by then; null after the time limit, or if
   *   the process has stopped
   */
  async passed(position: number, milliseconds: number): Promise<number | null> {
    await this.#waits.passed({ names: [name] }, position, { kind: 'process', ms: milliseconds });
    return this.#position >= position ? this.#lastAppended : null;
  }

  /** Ends every wait. */
  close(): void {
    this.#waits.close();
  }
}
