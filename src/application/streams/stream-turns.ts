import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

/** The most callers that wait for their turn on one stream. */
const defaultMaxWaiting = 1_000;

/** Lets callers use each stream one after another. Different streams do not wait for each other. */
export class StreamTurns {
  /** For each stream in use, the callbacks that begin the waiting turns. */
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #maxWaiting: number;

  /** @param maxWaiting the most waiting callers of one stream */
  constructor(maxWaiting = defaultMaxWaiting) {
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Waits for the turns of earlier callers. Needs one `end`.
   * @param deadline on this process's clock
   * @throws UnavailableError if too many wait, or after the deadline
   */
  async begin(stream: string, deadline: number): Promise<void> {
    const waiting = this.#waiting.get(stream);
    if (waiting === undefined) {
      this.#waiting.set(stream, new Set());
      return;
    }
    if (waiting.size >= this.#maxWaiting) throw tooManyWaiting(stream);
    await new Promise<void>((resolve, reject) => {
      const begin = () => {
        clock.clearTimeout(timer);
        resolve();
      };
      const giveUp = () => {
        waiting.delete(begin);
        reject(tooManyWaiting(stream));
      };
      const timer = clock.setTimeout(giveUp, Math.max(0, deadline - clock.now()));
      waiting.add(begin);
    });
  }

  /** Ends the turn on a stream, and begins the next one. */
  end(stream: string): void {
    const waiting = this.#waiting.get(stream);
    const [begin] = waiting ?? [];
    if (begin === undefined) {
      this.#waiting.delete(stream);
      return;
    }
    waiting?.delete(begin);
    begin();
  }
}

/** The failure of a caller that may not wait for a stream any longer. */
export const tooManyWaiting = (stream: string) =>
  new UnavailableError(`the ${stream.slice(0, stream.indexOf('-'))} has too many waiting writes.`);
