import type { ByteReservation } from '#exchange/byte-budget.ts';
import { noRoom, tooLarge } from './attempt-failure.ts';
import type { AttemptControl } from './body-consumer.ts';

/** The most bytes of a held body. */
const maxBytes = 64 * 1024 * 1024;

/** The body of an answer in memory, until it is whole. Its attempt fails if it has too many bytes, or the node no room. */
export class HeldBody {
  readonly #attempt: AttemptControl;
  readonly #hold: Pick<ByteReservation, 'takeBegun'>;
  readonly #chunks: Buffer[] = [];
  #length = 0;

  /** @param hold counts its bytes */
  constructor(attempt: AttemptControl, hold: Pick<ByteReservation, 'takeBegun'>) {
    this.#attempt = attempt;
    this.#hold = hold;
  }

  /** What has arrived so far. */
  get bytes(): Buffer {
    return this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks, this.#length);
  }

  /** Takes the next piece. */
  take(chunk: Buffer): void {
    this.#attempt.markContent();
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length > maxBytes) this.#attempt.fail(tooLarge);
    else if (!this.#hold.takeBegun(chunk.length)) this.#attempt.fail(noRoom);
  }
}
