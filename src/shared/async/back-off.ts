/** The waits between tries that fail one after the other. */
export interface BackOffLimits {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * How long to wait before the next try: twice as long after each failure, up to a limit.
 * @param failures in a row, the last one included
 * @param random from 0 to 1, 1 excluded
 * @returns whole milliseconds, spread as `spread` does
 */
export function backOffMs(failures: number, { firstMs, longestMs }: BackOffLimits, random: number): number {
  return Math.round(spread(Math.min(firstMs * 2 ** (failures - 1), longestMs), random));
}

/** Between half and all of a time, by chance: those that fail together must not come back together. */
export function spread(milliseconds: number, random: number): number {
  return milliseconds * (0.5 + random / 2);
}

/** Counts the failures of something that is tried until it succeeds. */
export class BackOff {
  readonly #limits: BackOffLimits;
  readonly #random: () => number;
  #failures = 0;

  /** @param random from 0 to 1, 1 excluded */
  constructor(limits: BackOffLimits, random: () => number = Math.random) {
    this.#limits = limits;
    this.#random = random;
  }

  /** It has failed. @returns how long to wait before the next try, in whole milliseconds */
  failed(): number {
    this.#failures += 1;
    return backOffMs(this.#failures, this.#limits, this.#random());
  }

  /** It has succeeded: the next failure is a first one. */
  succeeded(): void {
    this.#failures = 0;
  }
}
