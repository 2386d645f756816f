const defaultMaxEffects = 10_000;

/** Remembers effects by the events that caused them. It forgets the oldest ones. */
export class RecentEffects {
  readonly #max: number;
  /** The effects, the oldest first. */
  readonly #effects = new Map<string, { readonly key: string; readonly appended: number }>();
  readonly #byCause = new Map<string, Set<number>>();

  constructor(max = defaultMaxEffects) {
    this.#max = max;
  }

  /** Adds an append of a process. One that is remembered already changes nothing. */
  add(process: string, cause: number, appended: number): void {
    const key = keyOf(process, cause);
    const id = `${key}/${appended}`;
    if (this.#effects.has(id)) return;
    this.#effects.set(id, { key, appended });
    const positions = this.#byCause.get(key) ?? new Set();
    this.#byCause.set(key, positions.add(appended));
    if (this.#effects.size > this.#max) this.#forgetOldest();
  }

  of(process: string, cause: number): Iterable<number> {
    return this.#byCause.get(keyOf(process, cause)) ?? [];
  }

  #forgetOldest(): void {
    for (const [id, { key, appended }] of this.#effects) {
      this.#effects.delete(id);
      const positions = this.#byCause.get(key);
      positions?.delete(appended);
      if (positions?.size === 0) this.#byCause.delete(key);
      return;
    }
  }
}

const keyOf = (process: string, cause: number) => `${process}/${cause}`;
