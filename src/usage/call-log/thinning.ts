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
 * Plans which calls to remove. First one served call of each two with the same key and model represents both, beginning
 * with the oldest and with those that represent the fewest. Only when no two are left to join are the oldest calls of
 * any outcome removed.
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
  readonly #removed = new Set<CallOutline>();
  readonly #changed = new Map<CallOutline, number>();
  #bytes: number;
  #lost = 0;
  /** Whether two served calls of the same key and model are left. */
  canJoin = true;

  constructor(calls: ReadonlyArray<CallOutline>, maxBytes: number) {
    this.#calls = calls;
    this.#maxBytes = maxBytes;
    this.#bytes = calls.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  get isTooLarge(): boolean {
    return this.#bytes > this.#maxBytes;
  }

  /** Joins neighbours that represent at most `level` calls each. */
  joinServed(level: number): void {
    const waiting = new Map<string, CallOutline>();
    const groups = new Map<string, number>();
    for (const call of this.#calls) {
      if (!call.isServed || this.#removed.has(call)) continue;
      const group = `${call.keyId}\n${call.model}`;
      groups.set(group, (groups.get(group) ?? 0) + 1);
      if (this.#callsRepresented(call) > level || !this.isTooLarge) continue;
      const before = waiting.get(group);
      if (before === undefined) waiting.set(group, call);
      else {
        waiting.delete(group);
        this.#changed.set(before, this.#callsRepresented(before) + this.#callsRepresented(call));
        this.#remove(call);
        groups.set(group, (groups.get(group) ?? 0) - 1);
      }
    }
    this.canJoin = [...groups.values()].some((left) => left > 1);
  }

  removeOldest(): void {
    for (const call of this.#calls) {
      if (!this.isTooLarge) return;
      if (this.#removed.has(call)) continue;
      this.#lost += this.#callsRepresented(call);
      this.#changed.delete(call);
      this.#remove(call);
    }
  }

  result(): Thinning {
    return { removed: [...this.#removed], changed: this.#changed, lost: this.#lost };
  }

  #remove(call: CallOutline): void {
    this.#removed.add(call);
    this.#changed.delete(call);
    this.#bytes -= call.bytes;
  }

  #callsRepresented(call: CallOutline): number {
    return this.#changed.get(call) ?? call.callsRepresented;
  }
}
