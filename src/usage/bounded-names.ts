/** Keeps a limited number of names, because names that others choose must not grow the metrics without limit. */
export class BoundedNames {
  readonly #names = new Set<string>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** Whether a name may be used: it is known, or there is room for it. */
  has(name: string): boolean {
    if (this.#names.has(name)) return true;
    if (this.#names.size >= this.#max) return false;
    this.#names.add(name);
    return true;
  }
}
