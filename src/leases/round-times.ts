const maxTimes = 32;
/** A new term lasts as long as the slowest of this number of calls needs. They are those that have just begun it. */
const firstTimes = 4;
/** After this number of answers, failures no longer count: the answers show how slow the store is. */
const answersAfterFailure = 8;
const expiryFactor = 4;
const maxExpiryMs = 20_000;
const limitFactor = 3;
const minCallLimitMs = 1_000;
const maxCallLimitMs = 15_000;

/** Minimum expiry of a term. Every term that a node of release 0.5.0 holds has it. */
export const minExpiryMs = 1_400;

/**
 * How long the last calls of a node's rounds took. How long a term lasts, and how long a node waits for an answer, follow
 * this measure, so that a slow store is not taken for a dead one. Two outliers do not count.
 */
export class RoundTimes {
  #times: MeasuredTime[] = [];
  #answersSinceFailure = 0;
  #thirdSlowestMs = 0;

  add(tookMs: number): void {
    this.#answersSinceFailure += 1;
    if (this.#answersSinceFailure === answersAfterFailure)
      this.#times = this.#times.filter(({ isFailure }) => !isFailure);
    this.#note({ tookMs, isFailure: false });
  }

  /**
   * Counts a failed call. An answer would have taken longer. A quick failure, such as a refused connection, does not
   * count.
   */
  addFailure(tookMs: number): void {
    if (expiryFactor * tookMs <= this.expiryMs) return;
    this.#answersSinceFailure = 0;
    this.#note({ tookMs, isFailure: true });
  }

  #note(time: MeasuredTime): void {
    this.#times.push(time);
    if (this.#times.length > maxTimes) this.#times.shift();
    const slowest = this.#times.toSorted((one, other) => other.tookMs - one.tookMs);
    this.#thirdSlowestMs = slowest[Math.min(2, slowest.length - 1)]?.tookMs ?? 0;
  }

  /** The third slowest time; with fewer than three the fastest; 0 before the first. */
  get thirdSlowestMs(): number {
    return this.#thirdSlowestMs;
  }

  get expiryMs(): number {
    return within(minExpiryMs, expiryFactor * this.#thirdSlowestMs, maxExpiryMs);
  }

  /** The expiry of a new term. A store that has just become slow counts immediately. */
  get firstExpiryMs(): number {
    const newest = this.#times.slice(-firstTimes).map(({ tookMs }) => tookMs);
    return within(this.expiryMs, expiryFactor * Math.max(0, ...newest), maxExpiryMs);
  }

  get callLimitMs(): number {
    return within(minCallLimitMs, limitFactor * this.#thirdSlowestMs, maxCallLimitMs);
  }
}

interface MeasuredTime {
  readonly tookMs: number;
  readonly isFailure: boolean;
}

function within(minimum: number, value: number, maximum: number): number {
  return Math.ceil(Math.min(maximum, Math.max(minimum, value)));
}
