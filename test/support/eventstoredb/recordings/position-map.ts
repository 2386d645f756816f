/**
 * Maps the positions of a recording to those of the store it is replayed against. Equality and order must be the same.
 * Positions in between and after the last one keep their distance.
 */
export class PositionMap {
  readonly #actual = new Map<number, number>([[0, 0]]);

  /** @throws Error when a recorded position is already mapped to another one, or out of order */
  pair(recorded: string, actual: string): void {
    const [key, value] = [Number(recorded), Number(actual)];
    const known = this.#actual.get(key);
    if (known === value) return;
    if (known !== undefined) throw new Error(`The recorded position ${recorded} was ${known} before, now ${actual}.`);
    for (const [otherKey, otherValue] of this.#actual)
      if (Math.sign(otherKey - key) !== Math.sign(otherValue - value))
        throw new Error(`${actual} for the recorded ${recorded} is out of order with ${otherValue} for ${otherKey}.`);
    this.#actual.set(key, value);
  }

  /** Translates a recorded position for a request to the other store. */
  translate = (recorded: string): string => {
    const wanted = Number(recorded);
    let lower = 0;
    for (const key of this.#actual.keys()) if (key <= wanted && key > lower) lower = key;
    return String((this.#actual.get(lower) ?? 0) + wanted - lower);
  };
}
