import type { RecordedEvent } from '#event-store/event-store.ts';
import { identityByFirst } from '#event-store/log-identity.ts';

/** Which log each read model was made from. On another log its checkpoint means nothing. */
export class EventLogIdentity {
  #log: string | null;
  readonly #madeFrom: Map<string, string>;

  /**
   * @param first the log's first event; null while it is empty
   * @param madeFrom the recorded log of each projection; a read model without a record counts as this log's
   */
  constructor(first: RecordedEvent | null, madeFrom: Readonly<Record<string, string>> = {}) {
    this.#log = first === null ? null : identityByFirst(first);
    this.#madeFrom = new Map(Object.entries(madeFrom));
  }

  /** The log of each projection, to be stored. */
  get madeFrom(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#madeFrom);
  }

  /** Whether anything was made from another log. */
  get hasOthers(): boolean {
    return [...this.#madeFrom.keys()].some((name) => this.isOther(name));
  }

  /** Whether a projection's read model was made from another log. */
  isOther(projection: string): boolean {
    const log = this.#madeFrom.get(projection);
    return log !== undefined && this.#log !== null && log !== this.#log;
  }

  /**
   * Must be called with events as they arrive: the first event of an empty log identifies it.
   * @returns whether it now does
   */
  begun(events: ReadonlyArray<RecordedEvent>): boolean {
    const [first] = events;
    if (this.#log !== null || first === undefined) return false;
    this.#log = identityByFirst(first);
    return true;
  }

  /** Records that these projections' read models are made from this log. @returns whether that is new */
  made(projections: Iterable<string>): boolean {
    let isNew = false;
    for (const name of projections) {
      if (this.#log === null || this.#madeFrom.get(name) === this.#log) continue;
      this.#madeFrom.set(name, this.#log);
      isNew = true;
    }
    return isNew;
  }
}
