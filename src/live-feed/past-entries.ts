import { auditEntries, type EntryReads } from '#application/history/audit-entries.ts';
import { type PastPart, pastEvents } from '#application/history/past-events.ts';
import { areShown, type Positions } from '#positions/positions.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { entryMessage } from './event-stream-message.ts';
import type { FeedReader } from './feed-reader.ts';

export interface PastEntriesOptions {
  readonly documents: Pick<ReadStore, 'list'>;
  readonly reads: EntryReads;
  readonly positions: Pick<Positions, 'passed'>;
}

const auditCollection = 'audit';
const auditWaitMs = 2_000;
const eventsOfPart = 200;

/** Sends a reader the entries from before it joined, which the audit's read model finds. */
export class PastEntries {
  readonly #options: PastEntriesOptions;

  constructor(options: PastEntriesOptions) {
    this.#options = options;
  }

  /** Waits until all entries up to a position can be found. @throws UnavailableError after the time limit */
  async reach(position: number): Promise<void> {
    if (await areShown(this.#options.positions, [auditCollection], position, { ms: auditWaitMs })) return;
    throw new UnavailableError('The audit has not caught up with the log: past entries cannot be read just now.');
  }

  /**
   * Sends the entries between two positions, including the second, as fast as the reader receives them.
   * @returns the number of entries
   * @throws UnavailableError
   */
  async send(reader: FeedReader, after: number, until: number): Promise<number> {
    if (after >= until) return 0;
    await this.reach(until);
    const { documents, reads } = this.#options;
    let sent = 0;
    for (let from: number | null = after; from !== null && from < until && !reader.hasEnded; ) {
      const part: PastPart = await pastEvents(documents, reader.caller, from, eventsOfPart);
      const places = part.events.filter(({ position }) => position <= until);
      const entries = await auditEntries(reads, places);
      if (entries.length > 0) await reader.write(Buffer.from(entries.map(entryMessage).join('')));
      sent += entries.length;
      from = part.lookedUpTo;
    }
    return sent;
  }
}
