import type { UnknownEventsState, UnknownEventType } from '#read-store/read-store.ts';

/** The most types that are counted by name. Further ones are counted together. */
const maxTypes = 100;
const furtherTypes = '(further types)';

/** Counts the events that no part of this release handles, for operators. Such events are skipped. */
export class UnknownEvents {
  readonly #knownTypes: ReadonlySet<string>;
  readonly #types = new Map<string, UnknownEventType>();

  constructor(knownTypes: ReadonlyArray<string>) {
    this.#knownTypes = new Set(knownTypes);
  }

  get state(): UnknownEventsState {
    return { types: [...this.#types.values()], knownTypes: [...this.#knownTypes] };
  }

  /**
   * Restores the counts of an earlier run. @returns false if they are not valid any more, so that the log must be
   * counted again
   */
  restore(state: UnknownEventsState | undefined): boolean {
    if (state?.knownTypes.every((type) => this.#knownTypes.has(type)) !== true) return false;
    for (const counted of state.types) if (!this.#knownTypes.has(counted.type)) this.#types.set(counted.type, counted);
    return true;
  }

  /** Counts an event of an unknown type. @returns whether it was one */
  count({ type, position }: { readonly type: string; readonly position: number }): boolean {
    if (this.#knownTypes.has(type)) return false;
    const name = this.#types.has(type) || this.#types.size < maxTypes ? type : furtherTypes;
    const before = this.#types.get(name) ?? { count: 0, firstPosition: position, lastPosition: position };
    this.#types.set(name, {
      type: name,
      count: before.count + 1,
      firstPosition: Math.min(before.firstPosition, position),
      lastPosition: Math.max(before.lastPosition, position),
    });
    return true;
  }
}
