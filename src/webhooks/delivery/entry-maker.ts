import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type AuditedEvent,
  auditedEvents,
  type EntryReads,
  type EventPlace,
} from '#application/history/audit-entries.ts';

/**
 * Makes the entries of events for webhooks. An event goes to many endpoints at once, so those that ask in the same turn
 * of the event loop share one entry. An entry is never older than the question, so that it omits erased data.
 */
export class EntryMaker {
  readonly #reads: EntryReads;
  /** By the position of the event: the entries whose making begins in the next turn. */
  readonly #asked = new Map<number, Promise<AuditedEvent | null>>();

  constructor(reads: EntryReads) {
    this.#reads = reads;
  }

  /** @returns null if the event is not shown any more @throws UnavailableError; UnreadableEventError */
  make(place: EventPlace): Promise<AuditedEvent | null> {
    const asked = this.#asked.get(place.position) ?? this.#makeNextTurn(place);
    this.#asked.set(place.position, asked);
    return asked;
  }

  async #makeNextTurn(place: EventPlace): Promise<AuditedEvent | null> {
    await nextTurn();
    this.#asked.delete(place.position);
    const [made] = await auditedEvents(this.#reads, [place]);
    return made ?? null;
  }
}
