import { EventLoopBudget, heavyWork, largeBodyBytes } from '#shared/async/event-loop-budget.ts';
import { runFor } from '#shared/async/fair-queue.ts';

/**
 * Maximum bytes of events, of all streams, that are read in one turn of the event loop. More in one stream are a large
 * event, or many, and count as heavy work.
 */
const maxBytesOfTurn = 4 * largeBodyBytes;
const eventWork = new EventLoopBudget(maxBytesOfTurn);

const noBytes = Buffer.alloc(0);

/** The bytes of a stream that have arrived, until a turn of the event loop has room to read them. */
export class ArrivedBytes {
  readonly #projectId: string;
  readonly #onTurn: () => void;
  #pieces: Buffer[] = [];
  #isWaiting = false;

  /** @param onTurn called in the turn that they have waited for; it does not throw */
  constructor(projectId: string, onTurn: () => void) {
    this.#projectId = projectId;
    this.#onTurn = onTurn;
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  /** Whether they wait for a turn. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  add(piece: Buffer): void {
    this.#pieces.push(piece);
  }

  putBack(rest: Buffer): void {
    if (rest.length > 0) this.#pieces.unshift(rest);
  }

  take(): Buffer {
    const [first = noBytes] = this.#pieces;
    const bytes = this.#pieces.length > 1 ? Buffer.concat(this.#pieces) : first;
    this.#pieces = [];
    return bytes;
  }

  /**
   * Takes a turn to read them, unless all streams have taken too much of this one: then they wait.
   * @param heldBytes of the same event, which are read again
   * @returns whether it is this turn
   */
  takeTurn(heldBytes: number): boolean {
    const bytes = this.#pieces.reduce((sum, { length }) => sum + length, heldBytes);
    const isLarge = bytes > maxBytesOfTurn;
    if (!isLarge && eventWork.canBegin) {
      eventWork.spend(bytes);
      return true;
    }
    this.waitFor(() => (isLarge ? heavyWork.take(1) : eventWork.take(bytes)));
    return false;
  }

  waitFor(turn: () => Promise<void>): void {
    this.#isWaiting = true;
    void runFor(this.#projectId, turn).then(() => {
      this.#isWaiting = false;
      this.#onTurn();
    });
  }
}
