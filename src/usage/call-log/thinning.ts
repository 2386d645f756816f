/** What thinning reads of a stored call. */
export interface CallOutline {
  readonly id: string;
  /** When the call began, in ms since 1970. */
  readonly at: number;
  readonly isServed: boolean;
  /** Calls with different keys or models never represent each other. */
  readonly keyId: string;
  readonly model: string;
  readonly bytes: number;
  /** How many calls it represents, itself included. */
  readonly callsRepresented: number;
}

/** What to change so that calls take less space. */
export interface Thinning {
  readonly removed: ReadonlyArray<CallOutline>;
  /** The calls that represent removed ones too, with how many each represents now. */
  readonly changed: ReadonlyMap<CallOutline, number>;
  /** How many calls no record represents any more. */
  readonly lost: number;
}

/**
 * Plans which calls to remove. First one served call of each two with the same key and model represents both: first
 * those that represent the fewest, there those whose key and model have the most, and there the oldest. Only when no two
 * are left to join are the oldest calls of any outcome removed.
 * @param calls those of one project, oldest first
 * @param maxBytes the most bytes that the calls may take afterwards
 */
export function planThinning(calls: ReadonlyArray<CallOutline>, maxBytes: number): Thinning {
  const plan = new ThinningPlan(calls, maxBytes);
  for (let level = 1; plan.isTooLarge && plan.canJoin; level *= 2) plan.joinServed(level);
  plan.removeOldest();
  return plan.result();
}

class ThinningPlan {
  readonly #calls: ReadonlyArray<CallOutline>;
  readonly #maxBytes: number;
  /** The served calls that are left, of each key and model. */
  #groups: ReadonlyArray<ReadonlyArray<CallOutline>>;
  readonly #removed = new Set<CallOutline>();
  readonly #changed = new Map<CallOutline, number>();
  #bytes: number;
  #lost = 0;

  constructor(calls: ReadonlyArray<CallOutline>, maxBytes: number) {
    this.#calls = calls;
    this.#maxBytes = maxBytes;
    this.#bytes = calls.reduce((sum, { bytes }) => sum + bytes, 0);
    const served = this.isTooLarge ? calls.filter(({ isServed }) => isServed) : [];
    const groups = Map.groupBy(served, ({ keyId, model }) => `${keyId}\n${model}`).values();
    this.#groups = [...groups].sort((one, other) => other.length - one.length);
  }

  get isTooLarge(): boolean {
    return this.#bytes > this.#maxBytes;
  }

  /** Whether two served calls of the same key and model are left. */
  get canJoin(): boolean {
    return this.#groups.some((group) => group.length > 1);
  }

  /** Joins neighbours that represent at most `level` calls each. */
  joinServed(level: number): void {
    this.#groups = this.#groups.map((group) => (this.isTooLarge ? this.#joinIn(group, level) : group));
  }

  removeOldest(): void {
    for (const call of this.#calls) {
      if (!this.isTooLarge) return;
      if (this.#removed.has(call)) continue;
      this.#lost += this.#representedBy(call);
      this.#remove(call);
    }
  }

  result(): Thinning {
    return { removed: [...this.#removed], changed: this.#changed, lost: this.#lost };
  }

  /** @returns the calls that are left */
  #joinIn(group: ReadonlyArray<CallOutline>, level: number): ReadonlyArray<CallOutline> {
    let before: CallOutline | null = null;
    return group.filter((call) => {
      if (!this.isTooLarge || this.#representedBy(call) > level) return true;
      if (before === null) {
        before = call;
        return true;
      }
      this.#changed.set(before, this.#representedBy(before) + this.#representedBy(call));
      this.#remove(call);
      before = null;
      return false;
    });
  }

  #remove(call: CallOutline): void {
    this.#removed.add(call);
    this.#changed.delete(call);
    this.#bytes -= call.bytes;
  }

  #representedBy(call: CallOutline): number {
    return this.#changed.get(call) ?? call.callsRepresented;
  }
}
