/** Numbers that follow from a seed, so that a round can be repeated. */
export class Random {
  #state: number;

  /** @param seed an integer */
  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** An integer from 0 to below a limit. */
  below(limit: number): number {
    // Mulberry32.
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  pick<Value>(values: ReadonlyArray<Value>): Value {
    return values[this.below(values.length)] as Value;
  }
}
