import type { UsageEntry } from '#domain/usage/events.ts';
import { latencyOf } from '#domain/usage/latency-bins.ts';
import { noAmounts, type UsageAmounts, type UsageLabels, UsageTotal } from '#domain/usage/usage-total.ts';
import type { BrokenAttempt, CallRecord } from '#gateway/call-record.ts';

/** The most kinds of failed tries in one sum. */
const maxKindsOfTries = 21;

/** Sums up calls by key, operation, model, target and outcome. Calls beyond the most sums are counted as lost. */
export class UsageWindow {
  readonly #sums = new Map<string, { readonly labels: UsageLabels; readonly total: UsageTotal }>();
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
    const labels = labelsOf(record);
    let hasRoom = this.#addTo(labels, amountsOfCall(record));
    for (const attempt of record.brokenAttempts) {
      const hasOwnRoom = this.#addTo({ ...labels, target: attempt.target }, { ...noAmounts, ...consumedBy(attempt) });
      hasRoom &&= hasOwnRoom;
    }
    if (!hasRoom) this.#callsLost += 1;
  }

  entries(): ReadonlyArray<UsageEntry> {
    return Array.from(this.#sums.values(), ({ labels, total }) => ({ ...labels, ...total.amounts() }));
  }

  /** @returns false if there is no room for the sums */
  #addTo(labels: UsageLabels, amounts: UsageAmounts): boolean {
    const { keyId, operation, model, target, outcome } = labels;
    // A key always has the same tenant. No part contains a line feed, because names have no blanks.
    const name = `${keyId}\n${operation}\n${model}\n${target ?? ''}\n${outcome}`;
    const known = this.#sums.get(name);
    if (known === undefined && this.#sums.size >= this.#maxEntries) return false;
    const sum = known ?? { labels, total: new UsageTotal(maxKindsOfTries) };
    if (known === undefined) this.#sums.set(name, sum);
    sum.total.add(amounts);
    return true;
  }
}

function labelsOf(record: CallRecord): UsageLabels {
  const { keyId, organizationId, projectId, partnerId, operation, model, target, outcome } = record;
  return { keyId, organizationId, projectId, partnerId, operation, model, target, outcome };
}

/** Returns what one call adds. */
function amountsOfCall(record: CallRecord): UsageAmounts {
  const { streamed, attempts, tokens, characters, headersMs, firstContentMs, totalMs } = record;
  return {
    ...noAmounts,
    ...consumedBy(record),
    calls: 1,
    streamed: streamed ? 1 : 0,
    attempts,
    failedTries: record.failedTries.map((tried) => ({ ...tried, tries: 1 })),
    callsWithTokens: tokens === null ? 0 : 1,
    characters: characters ?? 0,
    headersMs: headersMs === null ? null : latencyOf(headersMs),
    firstContentMs: firstContentMs === null ? null : latencyOf(firstContentMs),
    totalMs: latencyOf(totalMs),
  };
}

/** Returns what an attempt consumed; also one that broke, whose call counts for the target that ended it. */
function consumedBy({ tokens, audioSeconds, cost }: Pick<BrokenAttempt, 'tokens' | 'audioSeconds' | 'cost'>) {
  return {
    inputTokens: tokens?.input ?? 0,
    outputTokens: tokens?.output ?? 0,
    audioSeconds: audioSeconds ?? 0,
    cost,
  };
}
