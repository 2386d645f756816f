import * as E from 'fp-ts/lib/Either.js';
import type { Tenant } from '#domain/shared/access.ts';
import { usageStreamKind } from '#domain/stream-kinds.ts';
import { upcasters } from '#domain/upcasters.ts';
import { dayOf, type FailedTriesEntry, type UsageEntry, type UsageEvents } from '#domain/usage/events.ts';
import { relativeAccuracy } from '#domain/usage/latency-bins.ts';
import { type CallAmounts, noAmounts, type UsageLabels, UsageTotal } from '#domain/usage/usage-total.ts';
import { type AppendFailure, type EventStore, type EventToAppend, noStream } from '#event-store/event-store.ts';
import type { UnsealedMetadata } from '#event-store/hash-chain.ts';
import { newestVersion } from '#event-store/recorded-event.ts';
import type { BrokenAttempt, CallRecord } from '#gateway/relay/call-record.ts';
import { Debouncer } from '#shared/async/debouncer.ts';
import { chance } from '#shared/chance.ts';
import { clock } from '#shared/clock.ts';
import { isOutage, UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { OutageLog } from '#shared/logging/outage-log.ts';

const intervalMs = 5_000;
/** Maximum number of entries of a few KB each, so at most some MB while the event store cannot be reached. */
const maxEntriesInMemory = 2_000;
/** A part that makes the store throw this often is divided, until what makes it throw is dropped. */
const maxThrows = 3;
/** Maximum number of entries of an event: well below the limit of an append. */
const maxEntriesOfEvent = 250;

const type = 'UsageRecorded';

export interface UsageRecorderOptions {
  readonly events: Pick<EventStore, 'append'>;
  /** The name of the node, which is unique: no other one appends to its streams. */
  readonly node: string;
  readonly log: Logger;
  /** The time between two appends; a crash loses no more than this. Default 5 s. */
  readonly storeIntervalMs?: number;
  /** Maximum number of entries in memory. Default 2,000. */
  readonly maxEntries?: number;
  readonly now?: () => Date;
}

export interface UsagePart {
  readonly from: string;
  readonly until: string;
  readonly callsLost: number;
  readonly usage: ReadonlyArray<UsageEntry>;
  /** The id and the rest of the event do not change when the event is sent again. */
  readonly id: string;
}

/**
 * Adds up calls in memory and appends the sums every few seconds to `usage-{date}-{node}`. While the event store cannot
 * be reached, it continues to add (few keys and models make few sums). Events that were sent are sent again unchanged,
 * so that nothing counts twice.
 */
export class UsageRecorder {
  readonly #options: UsageRecorderOptions;
  readonly #outage: OutageLog;
  readonly #now: () => Date;
  #window: UsageWindow;
  #from: string | null = null;
  /** The parts of an ended window that are not stored yet, in order. */
  #unsettled: UsagePart[] = [];
  #stream = '';
  #revision = noStream;
  /** How often the store has thrown for the first of these parts. */
  #throws = 0;
  readonly #storing: Debouncer;
  #callsLost = 0;
  #closed = false;

  constructor(options: UsageRecorderOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => new Date(clock.time()));
    this.#outage = new OutageLog(options.log, 'The event store in which usage is recorded');
    this.#window = this.#newWindow();
    this.#storing = new Debouncer(options.storeIntervalMs ?? intervalMs, (guard) => this.#store(guard(options.events)));
  }

  get callsLost(): number {
    return this.#callsLost + this.#window.callsLost;
  }

  /** Adds calls. Never throws. */
  add(records: ReadonlyArray<CallRecord>): void {
    if (this.#closed) {
      this.#callsLost += records.length;
      return;
    }
    this.#from ??= this.#now().toISOString();
    for (const record of records) this.#window.add(record);
    this.#storing.schedule();
  }

  /** Stores what waits, with one try. */
  async flush(): Promise<void> {
    // The first flush may only store the rest of the window before.
    await this.#storing.flush();
    if (this.#unsettled.length === 0) await this.#storing.flush();
  }

  /** Stores what waits, with one try. Sums that cannot be stored are lost, and the loss is logged. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#storing.stop();
    await this.flush();
    const calls = callsIn(this.#unsettled) + this.#window.calls;
    this.#window = this.#newWindow();
    if (calls === 0) return;
    this.#callsLost += calls;
    this.#options.log.error({ calls }, 'The usage of calls could not be recorded and is lost');
  }

  #newWindow(): UsageWindow {
    return new UsageWindow(this.#options.maxEntries ?? maxEntriesInMemory);
  }

  async #store(events: UsageRecorderOptions['events']): Promise<void> {
    if (this.#unsettled.length === 0) this.#endWindow();
    for (let [part] = this.#unsettled; part !== undefined; [part] = this.#unsettled) {
      const refused = await this.#append(events, part);
      if (refused === null) this.#unsettled.shift();
      else if (!this.#canRetryNow(part, refused)) break;
    }
    if (this.#unsettled.length > 0 || this.#window.calls > 0) this.#storing.schedule();
  }

  #endWindow(): void {
    const from = this.#from;
    if (from === null) return;
    const until = this.#now().toISOString();
    const entries = this.#window.entries();
    const { callsLost } = this.#window;
    this.#callsLost += callsLost;
    this.#from = null;
    this.#window = this.#newWindow();
    for (let start = 0; start < entries.length; start += maxEntriesOfEvent) {
      const usage = entries.slice(start, start + maxEntriesOfEvent);
      this.#unsettled.push({ from, until, callsLost: start === 0 ? callsLost : 0, usage, id: chance.randomUuid() });
    }
  }

  async #append(events: UsageRecorderOptions['events'], part: UsagePart): Promise<Refusal | null> {
    const stream = usageStreamOf(this.#options.node, part);
    if (stream !== this.#stream) {
      this.#stream = stream;
      this.#revision = noStream;
    }
    // If the store throws because of a bug, the recording must continue.
    const appended = await events
      .append(stream, this.#revision, [usageEvent(this.#options.node, part)])
      .catch((error: unknown) => E.left(thrown(error)));
    if (E.isLeft(appended)) return appended.left;
    this.#outage.succeeded();
    this.#throws = 0;
    this.#revision = appended.right.revision;
    return null;
  }

  /** @returns whether to retry immediately; otherwise the retry waits */
  #canRetryNow(part: UsagePart, refused: Refusal): boolean {
    switch (refused.kind) {
      case 'thrown':
        this.#outage.failed(refused.name);
        this.#throws += 1;
        if (this.#throws < maxThrows) return false;
        this.#divide(part, { error: refused.name });
        return true;
      case 'unavailable':
        this.#outage.failed(refused.detail);
        return false;
      case 'conflict':
        // Another writer, although not expected, has only moved the end of the stream.
        this.#revision = refused.actualRevision;
        return false;
      case 'append-too-large':
        this.#divide(part, { bytes: refused.bytes });
        return true;
    }
  }

  /** Divides the first part, or drops it if it has one sum. */
  #divide(part: UsagePart, reason: Readonly<Record<string, unknown>>): void {
    this.#unsettled.splice(0, 1, ...this.#halves(part, reason));
  }

  #halves(part: UsagePart, reason: Readonly<Record<string, unknown>>): ReadonlyArray<UsagePart> {
    const { usage } = part;
    if (usage.length <= 1) {
      const calls = callsIn([part]);
      this.#callsLost += calls;
      this.#throws = 0;
      const why = 'bytes' in reason ? 'is too large to be recorded' : 'cannot be recorded';
      this.#options.log.error({ calls, ...reason }, `The usage of calls ${why} and is lost`);
      return [];
    }
    const middle = Math.ceil(usage.length / 2);
    return [
      { ...part, usage: usage.slice(0, middle), id: chance.randomUuid() },
      { ...part, usage: usage.slice(middle), callsLost: 0, id: chance.randomUuid() },
    ];
  }
}

export function usageStreamOf(node: string, { until }: Pick<UsagePart, 'until'>): string {
  return `${usageStreamKind}-${dayOf(until)}-${node}`;
}

export function usageEvent(node: string, { id, from, until, callsLost, usage }: UsagePart): EventToAppend {
  const data: UsageEvents[typeof type] = { node, from, until, relativeAccuracy, callsLost, usage };
  const metadata = usageMetadata(id, type, until);
  return { id, type, data: JSON.stringify(data), metadata: JSON.stringify(metadata) };
}

/** Why an append was not made. `thrown`: the store does not take the event, or has a bug. */
type Refusal = AppendFailure | { readonly kind: 'thrown'; readonly name: string };

/** The text of an error may quote what it is about, so only its name is kept. */
function thrown(error: unknown): Refusal {
  const name = error instanceof Error ? error.name : typeof error;
  if (!isOutage(error)) return { kind: 'thrown', name };
  const detail = error instanceof UnavailableError ? error.message : name;
  return { kind: 'unavailable', detail, retryAfterSeconds: 1 };
}

function callsIn(parts: ReadonlyArray<UsagePart>): number {
  return parts.reduce((sum, { usage }) => sum + usage.reduce((calls, entry) => calls + entry.calls, 0), 0);
}

const maxKindsOfTries = 21;

interface UsageSum {
  readonly labels: UsageLabels;
  readonly total: UsageTotal;
}

/** Sums by key, operation, model, target and outcome. Calls beyond the maximum of sums are counted as lost. */
export class UsageWindow {
  readonly #sums = new Map<string, UsageSum>();
  readonly #maxEntries: number;
  #callsLost = 0;
  #calls = 0;

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  /** The number of calls, including lost ones. */
  get calls(): number {
    return this.#calls;
  }

  /** The number of calls without room for their sums. */
  get callsLost(): number {
    return this.#callsLost;
  }

  add(record: CallRecord): void {
    this.#calls += 1;
    const sum = this.#sumOf(record, record.target);
    sum?.total.addCall(amountsOfCall(record));
    let hasRoom = sum !== null;
    for (const attempt of record.brokenAttempts) {
      const ownSum = this.#sumOf(record, attempt.target);
      ownSum?.total.add({ ...noAmounts, ...consumedBy(attempt) });
      hasRoom &&= ownSum !== null;
    }
    if (!hasRoom) this.#callsLost += 1;
  }

  entries(): ReadonlyArray<UsageEntry> {
    return Array.from(this.#sums.values(), ({ labels, total }) => ({ ...labels, ...total.amounts() }));
  }

  /** The sum of a call; null if there is no room for it. */
  #sumOf(record: CallRecord, target: string | null): UsageSum | null {
    const { keyId, operation, model, outcome } = record;
    // A key always has the same tenant.
    const name = JSON.stringify([keyId, operation, model, target, outcome]);
    const known = this.#sums.get(name);
    if (known !== undefined) return known;
    if (this.#sums.size >= this.#maxEntries) return null;
    const sum = { labels: { ...labelsOf(record), target }, total: new UsageTotal(maxKindsOfTries) };
    this.#sums.set(name, sum);
    return sum;
  }
}

function labelsOf(record: CallRecord): UsageLabels {
  const { keyId, organizationId, projectId, partnerId, operation, model, target, outcome } = record;
  return { keyId, organizationId, projectId, partnerId, operation, model, target, outcome };
}

function amountsOfCall(record: CallRecord): CallAmounts {
  const { streamed, attempts, tokens, characters, headersMs, firstContentMs, totalMs } = record;
  return {
    ...consumedBy(record),
    calls: 1,
    streamed: streamed ? 1 : 0,
    attempts: attempts.length,
    failedTries: failedTriesIn(attempts),
    callsWithTokens: tokens === null ? 0 : 1,
    characters: characters ?? 0,
    headersMs,
    firstContentMs,
    totalMs,
  };
}

function failedTriesIn(attempts: CallRecord['attempts']): ReadonlyArray<FailedTriesEntry> {
  const failed: FailedTriesEntry[] = [];
  for (const { target, errorType } of attempts) if (errorType !== null) failed.push({ target, errorType, tries: 1 });
  return failed;
}

/** What was consumed, also for an attempt that broke. Its call counts for the target that ended it. */
function consumedBy({ tokens, audioSeconds, cost }: Pick<BrokenAttempt, 'tokens' | 'audioSeconds' | 'cost'>) {
  return {
    inputTokens: tokens?.input ?? 0,
    outputTokens: tokens?.output ?? 0,
    cachedInputTokens: tokens?.cachedInput ?? null,
    cacheWriteTokens: tokens?.cacheWrite ?? null,
    reasoningTokens: tokens?.reasoning ?? null,
    audioSeconds: audioSeconds ?? 0,
    cost,
  };
}

const meterActor = { keyId: 'system', keyType: 'system' } as const;

/** Usage events belong to no tenant, because each of their entries has its own tenant. */
const meterTenant: Tenant = { organizationId: 'system', projectId: null, partnerId: null };

/** The event has no other cause. */
export function usageMetadata(id: string, type: string, time: string): UnsealedMetadata {
  return {
    $correlationId: id,
    $causationId: id,
    actor: meterActor,
    ...meterTenant,
    requestId: id,
    time,
    schemaVersion: newestVersion(upcasters, type),
  };
}
