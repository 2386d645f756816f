interface Branch<Key, Value> {
  readonly next: Map<Key, Branch<Key, Value>>;
  value: Value | undefined;
}

/**
 * A map whose keys are lists. It looks up each part of a key in a map of its own, which takes less than to join them to a
 * text for each look-up.
 */
export class NestedMap<Key, Value> {
  readonly #root: Branch<Key, Value> = { next: new Map(), value: undefined };

  /** Returns the value of a key; undefined without one. */
  get(key: ReadonlyArray<Key>): Value | undefined {
    let branch: Branch<Key, Value> | undefined = this.#root;
    for (const part of key) {
      branch = branch.next.get(part);
      if (branch === undefined) return undefined;
    }
    return branch.value;
  }

  /** Sets or replaces the value of a key. */
  set(key: ReadonlyArray<Key>, value: Value): void {
    let branch = this.#root;
    for (const part of key) {
      const next: Branch<Key, Value> = branch.next.get(part) ?? { next: new Map(), value: undefined };
      branch.next.set(part, next);
      branch = next;
    }
    branch.value = value;
  }
}
