import type { Logger } from '#shared/logging/logger.ts';

/** A shorter time without a primary is not an outage. */
const transientMs = 300;
/** The election is over when for this time no call was refused and one was answered. */
const quietMs = 500;

/**
 * Logs that a server answers and refuses calls, because its replica set has no primary just now: once when that begins,
 * and once when it ends. The availability does not notice it, because the server answers its probes.
 */
export class ElectionLog {
  readonly #log: Logger | undefined;
  readonly #now: () => number;
  #since: number | null = null;
  #refusedAt = 0;
  #isLogged = false;

  /** @param now the time in milliseconds; default: the clock of the machine */
  constructor(log: Logger | undefined, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  /** A call was refused. */
  refused(): void {
    this.#refusedAt = this.#now();
    this.#since ??= this.#refusedAt;
    if (this.#isLogged || this.#refusedAt - this.#since < transientMs) return;
    this.#isLogged = true;
    this.#log?.warn({}, 'MongoDB refuses calls, because it has no primary; they are repeated until it has one');
  }

  /** A call was answered. */
  answered(): void {
    if (this.#since === null || this.#now() - this.#refusedAt < quietMs) return;
    this.#since = null;
    if (this.#isLogged) this.#log?.info({}, 'MongoDB has a primary again');
    this.#isLogged = false;
  }
}
