/**
 * A bounded number of ids, which owners share: when there are too many, the older half of those of the owner that has
 * most is forgotten, so that a busy owner forgets its own.
 */
export class RememberedIds {
  readonly #maxIds: number;
  readonly #ids = new Set<string>();
  /** The ids of each owner, the oldest first. */
  readonly #idsOf = new Map<string, Set<string>>();

  constructor(maxIds: number) {
    this.#maxIds = maxIds;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(owner: string, id: string): void {
    if (this.#ids.has(id)) return;
    this.#ids.add(id);
    const ofOwner = this.#idsOf.get(owner) ?? new Set();
    this.#idsOf.set(owner, ofOwner.add(id));
    if (this.#ids.size > this.#maxIds) this.#forgetHalf();
  }

  #forgetHalf(): void {
    let [largest, most] = ['', new Set<string>()];
    for (const [owner, ids] of this.#idsOf) if (ids.size > most.size) [largest, most] = [owner, ids];
    let left = Math.ceil(most.size / 2);
    for (const id of most) {
      if (left === 0) break;
      left -= 1;
      most.delete(id);
      this.#ids.delete(id);
    }
    if (most.size === 0) this.#idsOf.delete(largest);
  }
}
