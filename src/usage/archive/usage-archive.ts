import type { BlobStore } from '#blob-store/blob-store.ts';
import type { EventStore, StoredEvent } from '#event-store/event-store.ts';
import type { StreamRemoval } from '#event-store/stream-removal.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { archiveId, archivePrefix, verifyArchive, writeArchive } from './archive-file.ts';
import { type CountedStream, DayClosing, UsageArchiveError } from './day-closing.ts';
import { dayOfStream, meteringPrefix } from './metering-stream.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** Maximum number of retries for streams that grow while they are archived. */
const maxRounds = 5;

export interface UsageArchiveOptions {
  readonly events: Pick<EventStore, 'append' | 'read'> & StreamRemoval;
  readonly blobs: BlobStore;
  /** Maximum stored bytes of one append. */
  readonly maxAppendBytes: number;
  readonly log: Logger;
  readonly now: () => Date;
}

export interface ArchivedDay {
  readonly day: string;
  readonly streams: number;
  readonly events: number;
  /** The compressed size; 0 if an archive already held everything. */
  readonly bytes: number;
}

/** Moves the metering streams of past days out of the log. One at a time may work on a log. */
export class UsageArchive {
  readonly #options: UsageArchiveOptions;
  readonly #closing: DayClosing;

  constructor(options: UsageArchiveOptions) {
    this.#options = options;
    this.#closing = new DayClosing(options);
  }

  /** The end of the day before yesterday, in UTC. */
  latest(): Date {
    const now = this.#options.now().getTime();
    return new Date(now - (now % dayMs) - dayMs);
  }

  /**
   * Archives all days that end at a moment or before, the oldest first: their sums are appended, their streams written
   * to an archive and verified there, then removed. After a crash at any moment, a further run continues.
   * @param before at most `latest()`
   * @returns the days with streams left in the log
   * @throws UsageArchiveError; UnreadableEventError; UnavailableError; the signal's reason
   */
  async archive(before: Date, signal: AbortSignal): Promise<ReadonlyArray<ArchivedDay>> {
    const archived: ArchivedDay[] = [];
    for (const [day, streams] of await this.#days(before)) {
      const result = await this.#archiveDay(day, streams, signal);
      if (result === null) continue;
      this.#options.log.info({ ...result }, 'The metering of a day is archived');
      archived.push(result);
    }
    return archived;
  }

  /** The days that end by then, in order, each with its streams. */
  async #days(before: Date): Promise<ReadonlyArray<[day: string, streams: ReadonlyArray<string>]>> {
    const names = await this.#options.events.streamNames(meteringPrefix);
    const byDay = Map.groupBy(names, (name) => dayOfStream(name) ?? '');
    return [...byDay]
      .filter(([day]) => day !== '' && Date.parse(day) + dayMs <= before.getTime())
      .sort(([one], [other]) => (one < other ? -1 : 1));
  }

  /** @returns null if nothing was left of it */
  async #archiveDay(day: string, names: ReadonlyArray<string>, signal: AbortSignal): Promise<ArchivedDay | null> {
    let result: ArchivedDay = { day, streams: 0, events: 0, bytes: 0 };
    for (let round = 0; round < maxRounds; round += 1) {
      const held = await this.#closing.close(day, names, signal);
      if (held.length === 0) return result.streams === 0 ? null : result;
      const bytes = await this.#write(day, held, signal);
      const removed = await this.#remove(held, signal);
      const events = removed.reduce((sum, stream) => sum + stream.events, 0);
      result = {
        day,
        streams: result.streams + removed.length,
        events: result.events + events,
        bytes: result.bytes + bytes,
      };
      if (removed.length === held.length) return result;
    }
    throw new UsageArchiveError(`The metering of ${day} still grows: archive it later.`);
  }

  /**
   * Writes the events that no archive of the day holds.
   * @returns the written bytes
   */
  async #write(day: string, held: ReadonlyArray<CountedStream>, signal: AbortSignal): Promise<number> {
    const archived = await this.#archivedEvents(day, signal);
    const rests = await Promise.all(held.map((stream) => this.#restOf(stream, archived.get(stream.stream) ?? [])));
    const streams = rests.filter((stream) => stream.events > 0);
    if (streams.length === 0) return 0;
    return writeArchive(archiveId(day, streams), streams, this.#options, signal);
  }

  /** The last event of each stream in the day's archives, which are all verified. */
  async #archivedEvents(day: string, signal: AbortSignal): Promise<ReadonlyMap<string, ReadonlyArray<StoredEvent>>> {
    const found = new Map<string, StoredEvent[]>();
    for await (const { id } of this.#options.blobs.list(archivePrefix(day))) {
      const { lastEvents } = await verifyArchive(id, this.#options.blobs, signal);
      for (const event of lastEvents) found.set(event.stream, [...(found.get(event.stream) ?? []), event]);
    }
    return found;
  }

  /** The events of a stream after those that archives already hold. */
  async #restOf(counted: CountedStream, archived: ReadonlyArray<StoredEvent>): Promise<CountedStream> {
    let rest = counted;
    for (const { id, revision } of archived) {
      if (revision < rest.firstRevision || revision > rest.lastRevision) continue;
      const [same, next] = await this.#options.events.readRaw(counted.stream, revision, 2);
      if (same?.id !== id) continue;
      const events = rest.lastRevision - revision;
      rest = { ...rest, firstRevision: revision + 1, firstEvent: next?.id ?? '', events };
    }
    return rest;
  }

  /** @returns the streams without later events */
  async #remove(streams: ReadonlyArray<CountedStream>, signal: AbortSignal): Promise<ReadonlyArray<CountedStream>> {
    const removed: CountedStream[] = [];
    for (const stream of streams) {
      signal.throwIfAborted();
      if (await this.#options.events.removeStream(stream.stream, stream.lastRevision)) removed.push(stream);
    }
    return removed;
  }
}
