import { auditEntries, type EntryReads } from '#application/history/audit-entries.ts';
import { pastEvents } from '#application/history/past-events.ts';
import type { Caller } from '#domain/shared/tenancy.ts';
import { areShown, type Positions } from '#positions/positions.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { FairSlots } from '#shared/async/fair-slots.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { entryMessage } from './event-stream-message.ts';
import type { FeedReader } from './feed-reader.ts';

export interface PastEntriesOptions {
  readonly documents: Pick<ReadStore, 'list'>;
  readonly reads: EntryReads;
  readonly positions: Pick<Positions, 'passed'>;
}

/** The next entries of a replay. */
interface Part {
  readonly bytes: Buffer;
  readonly entries: number;
  /** Whether it has all entries of the events that were looked at. */
  readonly isWhole: boolean;
  /** The position after which the next part begins; null at the end. */
  readonly lookedUpTo: number | null;
}

const auditCollection = 'audit';
const auditWaitMs = 2_000;
const maxPartCharacters = 64 * 1024;
const firstPartEvents = 50;
const maxPartEvents = 200;
/** The parts that are made at once on this node. A project has a part of them. */
const slotLimits = { maxSlots: 8, maxSlotsOfOwner: 2, maxWaitMs: 30_000 };

/**
 * Sends readers the entries from before they joined, which the audit's read model finds. Projects make their parts in
 * turn. While a part waits for its client, it takes no slot, and no other part of the reader is in memory.
 */
export class PastEntries {
  readonly #options: PastEntriesOptions;
  readonly #slots = new FairSlots(slotLimits);

  constructor(options: PastEntriesOptions) {
    this.#options = options;
  }

  /** The parts that are made now. */
  get making(): number {
    return this.#slots.taken;
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
    let sent = 0;
    let maxEvents = firstPartEvents;
    for (let from: number | null = after; from !== null && from < until && !reader.hasEnded; ) {
      const part: Part | null = await this.#makeInTurn(reader, from, until, maxEvents);
      if (part === null) break;
      await reader.write(part.bytes);
      sent += part.entries;
      from = part.lookedUpTo;
      // Entries that are made and do not fit are made again, so the next part looks at fewer events.
      maxEvents = part.isWhole ? Math.min(2 * maxEvents, maxPartEvents) : part.entries;
    }
    return sent;
  }

  /** Makes a part in the turn of the reader's project. @returns null if the reader has left meanwhile */
  async #makeInTurn(reader: FeedReader, after: number, until: number, maxEvents: number): Promise<Part | null> {
    const leave = await this.#slots.enter(reader.caller.projectId);
    if (typeof leave === 'string') throw new UnavailableError('Too many past entries are being read just now.');
    try {
      return reader.hasEnded ? null : await this.#make(reader.caller, after, until, maxEvents);
    } finally {
      leave();
    }
  }

  async #make(caller: Caller, after: number, until: number, maxEvents: number): Promise<Part> {
    const { documents, reads } = this.#options;
    const { events, lookedUpTo } = await pastEvents(documents, caller, after, maxEvents);
    const entries = await auditEntries(
      reads,
      events.filter(({ position }) => position <= until),
    );
    let text = '';
    let taken = 0;
    for (const entry of entries) {
      const message = entryMessage(entry);
      if (taken > 0 && text.length + message.length > maxPartCharacters) break;
      text += message;
      taken += 1;
    }
    const isWhole = taken === entries.length;
    const last = entries[taken - 1]?.position ?? until;
    return { bytes: Buffer.from(text), entries: taken, isWhole, lookedUpTo: isWhole ? lookedUpTo : last };
  }
}
