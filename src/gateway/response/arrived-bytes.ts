import { turn } from '#exchange/turns.ts';
import type { WorkOwner } from '#shared/async/fair-queue.ts';

const noBytes = Buffer.alloc(0);

/** The arrived bytes of a stream, until a turn of the event loop has room to read them. */
export class ArrivedBytes {
  readonly #held: WorkOwner;
  readonly #onTurn: () => void;
  #pieces: Buffer[] = [];
  #isWaiting = false;

  /**
   * @param projectId whose turns they take. An attempt ends its own wait: it reads the usage of a client that has left
   * @param onTurn called in the turn that they have waited for; it does not throw
   */
  constructor(projectId: string, onTurn: () => void) {
    this.#held = { owner: projectId, hasLeft: false };
    this.#onTurn = onTurn;
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

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
   * Takes a turn. The bytes wait if all streams have taken too much of this turn.
   * @param heldBytes of the same event, which are read again
   * @returns whether it is this turn
   */
  takeTurn(heldBytes: number): boolean {
    const bytes = this.#pieces.reduce((sum, { length }) => sum + length, heldBytes);
    const ready = this.turnOf(bytes);
    if (ready === null) return true;
    this.waitUntil(ready);
    return false;
  }

  /** @returns null if it is this turn */
  turnOf(bytes: number): Promise<void> | null {
    return turn(this.#held, 'stream', bytes);
  }

  /** @param ready settles in the turn in which they are read */
  waitUntil(ready: Promise<void> | null): void {
    this.#isWaiting = true;
    void Promise.resolve(ready).then(() => {
      this.#isWaiting = false;
      this.#onTurn();
    });
  }
}
