const defaultMaxWaitMs = 1_000;
/** The most calls of a key that wait. */
const maxWaiting = 10;

/** Lets each key do one thing at a time, in the order of its calls. Keys do not wait for each other. */
export class KeyTurns {
  readonly #maxWaitMs: number;
  /** By key at work: who waits for it. */
  readonly #waiting = new Map<string, Array<() => void>>();

  /** @param maxWaitMs how long a call waits for its turn */
  constructor(maxWaitMs = defaultMaxWaitMs) {
    this.#maxWaitMs = maxWaitMs;
  }

  /**
   * Waits for the key's turn.
   * @returns ends the turn, to be called once; null if the turn did not come in time, or if too many wait
   */
  async enter(keyId: string): Promise<(() => void) | null> {
    const waiting = this.#waiting.get(keyId);
    if (waiting === undefined) {
      this.#waiting.set(keyId, []);
      return () => this.#leave(keyId);
    }
    if (waiting.length >= maxWaiting) return null;
    return new Promise((resolve) => {
      const begin = () => {
        clearTimeout(timer);
        resolve(() => this.#leave(keyId));
      };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(begin), 1);
        resolve(null);
      }, this.#maxWaitMs);
      waiting.push(begin);
    });
  }

  #leave(keyId: string): void {
    const next = this.#waiting.get(keyId)?.shift();
    if (next === undefined) this.#waiting.delete(keyId);
    else next();
  }
}
