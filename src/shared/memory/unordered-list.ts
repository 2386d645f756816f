/** An item of an `UnorderedList`. It can be in one list at a time. */
export interface UnorderedListItem {
  /** Only the list sets this: the item's index, or null while it is in none. */
  listIndex: number | null;
}

/**
 * A list to which short-lived items are added, and from which they are removed, all the time. A `Set` would keep them alive:
 * V8 replaces its table often, the old table still names its members and the next table, and once one table has reached
 * the old generation, all later ones stay, with all that requests hold, until a full garbage collection.
 */
export class UnorderedList<Item extends UnorderedListItem> {
  readonly #items: Item[] = [];

  /** The number of items. */
  get size(): number {
    return this.#items.length;
  }

  /** Adds an item, unless it is in the list. */
  add(item: Item): void {
    item.listIndex ??= this.#items.push(item) - 1;
  }

  /** Removes an item. Does nothing if it is not in the list. */
  remove(item: Item): void {
    const index = item.listIndex;
    const last = this.#items.at(-1);
    if (index === null || last === undefined) return;
    this.#items[index] = last;
    last.listIndex = index;
    this.#items.pop();
    item.listIndex = null;
  }

  /** Whether one of the items fits. */
  some(fits: (item: Item) => boolean): boolean {
    return this.#items.some(fits);
  }

  /** Visits all items. The visitor may remove any of them; it does not see those that are added meanwhile. */
  visit(take: (item: Item) => void): void {
    // From the end, because the last item takes the place of a removed one.
    for (let index = this.#items.length - 1; index >= 0; index -= 1) {
      const item = this.#items[index];
      if (item !== undefined) take(item);
    }
  }
}
