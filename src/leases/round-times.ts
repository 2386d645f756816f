const maxTimes = 32;
const expiryFactor = 4;
const maxExpiryMs = 20_000;
const limitFactor = 3;
const minCallLimitMs = 1_000;
const maxCallLimitMs = 15_000;

/** The shortest expiry of a term, and the one of every term that a node of release 0.5.0 holds. */
export const minExpiryMs = 1_400;

/**
 * How long the last calls of a node's rounds took. How long a term lasts, and how long a node waits for an answer, follow
 * this measure, so that a slow store is not taken for a dead one. Two outliers do not count.
 */
export class RoundTimes {
  readonly #times: number[] = [];

  /** @param tookMs the time of an answered call; for one that was not answered, its limit */
  add(tookMs: number): void {
    this.#times.push(tookMs);
    if (this.#times.length > maxTimes) this.#times.shift();
  }

  /** The third-slowest time; the fastest of fewer than three; 0 before the first. */
  get thirdSlowestMs(): number {
    const slowest = this.#times.toSorted((one, other) => other - one);
    return slowest[Math.min(2, slowest.length - 1)] ?? 0;
  }

  /** For how long a term lasts after a renewal. */
  get expiryMs(): number {
    return within(minExpiryMs, expiryFactor * this.thirdSlowestMs, maxExpiryMs);
  }

  /** How long a node waits for the answer to one call. */
  get callLimitMs(): number {
    return within(minCallLimitMs, limitFactor * this.thirdSlowestMs, maxCallLimitMs);
  }
}

function within(minimum: number, value: number, maximum: number): number {
  return Math.ceil(Math.min(maximum, Math.max(minimum, value)));
}
