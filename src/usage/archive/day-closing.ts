import * as E from 'fp-ts/lib/Either.js';
import type { ClosedUsageStream, HourlyUsageEntry, UsageEvents } from '#domain/usage/events.ts';
import { relativeAccuracy as currentAccuracy } from '#domain/usage/latency-bins.ts';
import type { AppendFailure, EventStore, StoredEvent } from '#event-store/event-store.ts';
import { seal } from '#event-store/hash-chain.ts';
import type { StreamRemoval } from '#event-store/stream-removal.ts';
import { chance } from '#shared/chance.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { usageMetadata } from '#usage/usage-recorder.ts';
import { type ClosedDay, readClosedDay, usageDayStream } from './closed-day.ts';
import { entryGroupOf, HourlyTotals } from './hourly-totals.ts';
import { storedEventsOf } from './metering-stream.ts';
import { StreamCount } from './stream-count.ts';

type Closing = UsageEvents['UsageDayClosed'];
const type = 'UsageDayClosed';

/** The part of an append's limit that is reserved for everything except the entries. */
const overheadBytes = 2_048;

/** Maximum number of conflicts with other archives that append at the same time. */
const maxConflicts = 5;

export interface DayClosingOptions {
  readonly events: Pick<EventStore, 'append' | 'read'> & Pick<StreamRemoval, 'readRaw'>;
  /** Maximum stored bytes of one append. */
  readonly maxAppendBytes: number;
  readonly now: () => Date;
}

/** A metering stream whose events closings have all counted. */
export interface CountedStream {
  readonly stream: string;
  readonly firstRevision: number;
  readonly lastRevision: number;
  readonly firstEvent: string;
  readonly lastEvent: string;
  readonly events: number;
}

/** Closes days: appends the sums of events that no closing of the day has counted. */
export class DayClosing {
  readonly #options: DayClosingOptions;

  constructor(options: DayClosingOptions) {
    this.#options = options;
  }

  /**
   * Closes a day up to the present end of the day's streams. @param names of the metering streams @returns the streams
   * with events @throws UsageArchiveError; UnreadableEventError; UnavailableError; the signal's reason
   */
  async close(day: string, names: ReadonlyArray<string>, signal: AbortSignal): Promise<ReadonlyArray<CountedStream>> {
    for (let conflicts = 0; conflicts < maxConflicts; conflicts += 1) {
      const closed = await readClosedDay(this.#options.events, day);
      const count = await this.#count(closed, names, signal);
      if (count.streams.length === 0 || (await this.#append(day, closed, count))) return count.held;
    }
    throw new UnavailableError(`Something else closes ${day} at the same time.`);
  }

  async #count(closed: ClosedDay, names: ReadonlyArray<string>, signal: AbortSignal): Promise<DayCount> {
    const day = new DayCount(closed);
    for (const name of names.toSorted()) {
      const stream = new StreamCount(name, closed.streams.get(name) ?? null);
      let first: StoredEvent | null = null;
      let last: StoredEvent | null = null;
      let events = 0;
      for await (const event of storedEventsOf(this.#options.events, name, 0, signal)) {
        stream.add(event);
        first ??= event;
        last = event;
        events += 1;
      }
      if (first === null || last === null) continue;
      day.add(stream, heldStream(first, last, events));
    }
    return day;
  }

  /** @returns false if another archive has closed the day meanwhile */
  async #append(day: string, closed: ClosedDay, count: DayCount): Promise<boolean> {
    let { revision, hash, time } = closed;
    for (const part of this.#partsOf(day, closed, count)) {
      const sealed = this.#seal(part, { revision, hash, time });
      const appended = await this.#options.events.append(usageDayStream(day), revision, [sealed.event]);
      if (E.isLeft(appended)) {
        if (appended.left.kind === 'conflict') return false;
        throw refusal(day, appended.left);
      }
      ({ revision } = appended.right);
      ({ hash, time } = sealed);
    }
    return true;
  }

  #partsOf(day: string, closed: ClosedDay, count: DayCount): ReadonlyArray<Closing> {
    const maxBytes = this.#options.maxAppendBytes - overheadBytes;
    const usages = packed(count.changedGroups(), maxBytes, day);
    const streams = [...count.streams];
    // The counted streams go into the last part, or into a separate part.
    const last = usages.at(-1);
    if (last === undefined || bytesOf(last) + bytesOf(streams) > maxBytes) usages.push([]);
    const common = { relativeAccuracy: count.relativeAccuracy, callsLost: closed.callsLost + count.callsLost };
    const parts = usages.length;
    return usages.map((usage, index) => {
      const isLast = index === parts - 1;
      return { day, part: index + 1, parts, ...common, usage, streams: isLast ? streams : [] };
    });
  }

  #seal(data: Closing, before: Pick<ClosedDay, 'revision' | 'hash' | 'time'>) {
    const now = this.#options.now().toISOString();
    const time = before.time !== null && before.time > now ? before.time : now;
    const id = chance.randomUuid();
    const metadata = usageMetadata(id, type, time);
    const stream = usageDayStream(data.day);
    return { ...seal(stream, before.revision + 1, before.hash, { id, type, data }, metadata), time };
  }
}

/** The events of a day's streams that no closing has counted. */
class DayCount {
  readonly held: CountedStream[] = [];
  /** The new counts, only of streams with new events. */
  readonly streams: ClosedUsageStream[] = [];
  callsLost = 0;
  readonly #closed: ClosedDay;
  readonly #accuracies = new Set<number>();
  readonly #sums = new HourlyTotals();

  constructor(closed: ClosedDay) {
    this.#closed = closed;
    if (closed.relativeAccuracy !== null) this.#accuracies.add(closed.relativeAccuracy);
  }

  add(count: StreamCount, held: CountedStream): void {
    this.held.push(held);
    const closed = count.closed();
    if (closed === null) return;
    this.streams.push(closed);
    this.callsLost += count.callsLost;
    for (const accuracy of count.accuracies) this.#accuracies.add(accuracy);
    for (const group of count.sums.groups()) for (const entry of count.sums.entries(group)) this.#sums.add(entry);
  }

  /** @throws UsageArchiveError if there are several */
  get relativeAccuracy(): number {
    const [first = currentAccuracy, second] = this.#accuracies;
    if (second === undefined) return first;
    throw new UsageArchiveError(
      `The latencies of a day have different accuracies (${first}, ${second}) and cannot be added up: the day stays as it is.`,
    );
  }

  /** All sums of each group that has something new. */
  *changedGroups(): Generator<ReadonlyArray<HourlyUsageEntry>, void, void> {
    for (const group of this.#sums.groups()) {
      const whole = new HourlyTotals();
      for (const entry of this.#closed.entries.get(group) ?? []) whole.add(entry);
      for (const entry of this.#sums.entries(group)) whole.add(entry);
      yield whole.entries(group);
    }
  }
}

function heldStream(first: StoredEvent, last: StoredEvent, events: number): CountedStream {
  return {
    stream: first.stream,
    firstRevision: first.revision,
    lastRevision: last.revision,
    firstEvent: first.id,
    lastEvent: last.id,
    events,
  };
}

/** Packs groups into events. Never divides a group. @throws UsageArchiveError for a group that is too large */
function packed(
  groups: Iterable<ReadonlyArray<HourlyUsageEntry>>,
  maxBytes: number,
  day: string,
): Array<ReadonlyArray<HourlyUsageEntry>> {
  const parts: Array<ReadonlyArray<HourlyUsageEntry>> = [];
  let part: HourlyUsageEntry[] = [];
  let partBytes = 0;
  for (const group of groups) {
    const bytes = bytesOf(group);
    const [first] = group;
    if (bytes > maxBytes && first !== undefined) throw tooLarge(day, entryGroupOf(first), bytes);
    if (part.length > 0 && partBytes + bytes > maxBytes) {
      parts.push(part);
      part = [];
      partBytes = 0;
    }
    part.push(...group);
    partBytes += bytes;
  }
  if (part.length > 0) parts.push(part);
  return parts;
}

function bytesOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function tooLarge(day: string, group: string, bytes: number): UsageArchiveError {
  return new UsageArchiveError(
    `The sums of ${day} of key, model and target ${group} take ${bytes} bytes, too many for one event: raise MAX_APPEND_BYTES. The day stays as it is.`,
  );
}

function refusal(day: string, failure: Exclude<AppendFailure, { readonly kind: 'conflict' }>): Error {
  if (failure.kind === 'unavailable') return new UnavailableError(failure.detail, failure.retryAfterSeconds);
  return new UsageArchiveError(
    `The sums of ${day} take ${failure.bytes} bytes, and ${failure.maxBytes} may be appended: raise MAX_APPEND_BYTES. The day stays as it is.`,
  );
}

/** A day's usage cannot be archived, and an operator must act. Nothing was removed. */
export class UsageArchiveError extends Error {
  override readonly name = 'UsageArchiveError';
}
