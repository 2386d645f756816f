/** The limits of the waits between failed attempts. */
export interface BackOffLimits {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * Returns how long to wait before the next attempt: twice as long after each failure, up to a limit.
 * @param failures in a row, including the last one
 * @param random from 0 to 1, 1 excluded
 * @returns whole milliseconds, randomized by `spread`
 */
export function backOffMs(failures: number, { firstMs, maxMs }: BackOffLimits, random: number): number {
  return Math.round(spread(Math.min(firstMs * 2 ** (failures - 1), maxMs), random));
}

/**
 * Returns a random time between half of a time and all of it, so that callers that fail together do not retry
 * together.
 */
export function spread(milliseconds: number, random: number): number {
  return milliseconds * (0.5 + random / 2);
}

/** Counts the failures of an operation that is retried until it succeeds. */
export class BackOff {
  readonly #limits: BackOffLimits;
  readonly #random: () => number;
  #failures = 0;

  /** @param random from 0 to 1, 1 excluded */
  constructor(limits: BackOffLimits, random: () => number = Math.random) {
    this.#limits = limits;
    this.#random = random;
  }

  /** Reports a failure. @returns how long to wait before the next attempt, in whole milliseconds */
  failed(): number {
    this.#failures += 1;
    return backOffMs(this.#failures, this.#limits, this.#random());
  }

  /** Reports a success: the next failure counts as the first one. */
  succeeded(): void {
    this.#failures = 0;
  }
}
