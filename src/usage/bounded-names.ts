/** Knows names, the first so many: names that others choose must not grow the metrics without end. */
export class BoundedNames {
  readonly #names = new Set<string>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** Whether a name may be used: one that is known, or that there is room for. */
  has(name: string): boolean {
    if (this.#names.has(name)) return true;
    if (this.#names.size >= this.#max) return false;
    this.#names.add(name);
    return true;
  }
}
