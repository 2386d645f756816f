/** Adds a number to a name that something else has. */
export class FreeNames {
  readonly #joint: string;
  readonly #taken: Set<string>;
  readonly #numbers = new Map<string, number>();

  /** @param joint between a name and its number */
  constructor(joint: string, taken: Iterable<string> = []) {
    this.#joint = joint;
    this.#taken = new Set(taken);
  }

  take(wanted: string): string {
    let name = wanted;
    // The next number is kept, because a file may have very many providers at one address.
    for (let number = this.#numbers.get(wanted) ?? 2; this.#taken.has(name); number += 1) {
      name = `${wanted}${this.#joint}${number}`;
      this.#numbers.set(wanted, number + 1);
    }
    this.#taken.add(name);
    return name;
  }
}
