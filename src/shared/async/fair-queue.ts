/** A queue that serves owners in turn: one item of each, in the order in which the owner's items came. */
export class FairQueue<Item> {
  /** The owner that was served last is at the end. */
  readonly #byOwner = new Map<string, Item[]>();
  #size = 0;

  /** The number of items of all owners. */
  get size(): number {
    return this.#size;
  }

  /** The number of items of an owner. */
  sizeOf(owner: string): number {
    return this.#byOwner.get(owner)?.length ?? 0;
  }

  /** Adds an item behind the owner's others. */
  push(owner: string, item: Item): void {
    const items = this.#byOwner.get(owner);
    if (items === undefined) this.#byOwner.set(owner, [item]);
    else items.push(item);
    this.#size += 1;
  }

  /**
   * Removes the next item.
   * @param canServe whether it may be this owner's turn, for its first item; by default it always may
   * @returns undefined if there is none
   */
  shift(canServe: (owner: string, item: Item) => boolean = () => true): Item | undefined {
    for (const [owner, items] of this.#byOwner) {
      const [item] = items;
      if (item === undefined || !canServe(owner, item)) continue;
      items.shift();
      this.#byOwner.delete(owner);
      if (items.length > 0) this.#byOwner.set(owner, items);
      this.#size -= 1;
      return item;
    }
    return undefined;
  }
}
