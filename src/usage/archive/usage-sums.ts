import type { HourlyUsageEntry, LatencyDistribution, UsageEntry } from '#domain/usage/events.ts';
import { noLatencies } from '#domain/usage/latency-bins.ts';
import { otherErrorType } from '#gateway/error-type.ts';
import { LatencySum } from './latency-sum.ts';

/** The most kinds of failed tries in a sum. */
const maxFailedKinds = 50;

/** The key, model and target of an entry. A closing never divides entries with the same group among events. */
export function groupOf({ keyId, model, target }: UsageEntry): string {
  return JSON.stringify([keyId, model, target]);
}

/** Adds up usage by hour, key, owner, operation, model, target and outcome. */
export class UsageSums {
  /** By group, then by the other members in which entries differ. */
  readonly #groups = new Map<string, Map<string, EntrySum>>();

  /** The groups that it has entries of. */
  groups(): IterableIterator<string> {
    return this.#groups.keys();
  }

  add(entry: HourlyUsageEntry): void {
    const group = groupOf(entry);
    const sums = this.#groups.get(group) ?? new Map<string, EntrySum>();
    this.#groups.set(group, sums);
    const { hour, organizationId, projectId, partnerId, operation, outcome } = entry;
    const name = JSON.stringify([hour, organizationId, projectId, partnerId, operation, outcome]);
    const sum = sums.get(name) ?? new EntrySum(entry);
    sums.set(name, sum);
    sum.add(entry);
  }

  /** The sums of a group, in the order of their hours. */
  entries(group: string): ReadonlyArray<HourlyUsageEntry> {
    const sums = this.#groups.get(group) ?? new Map<string, EntrySum>();
    const entries = Array.from(sums.values(), (sum) => sum.entry());
    return entries.sort((one, other) => (one.hour < other.hour ? -1 : one.hour > other.hour ? 1 : 0));
  }
}

/** The members that are simply added. */
const counts = [
  'calls',
  'streamed',
  'attempts',
  'callsWithTokens',
  'inputTokens',
  'outputTokens',
  'characters',
  'audioSeconds',
] as const;
type Counts = Record<(typeof counts)[number], number>;

const latencies = ['headersMs', 'firstContentMs', 'totalMs'] as const;
type Latencies = Record<(typeof latencies)[number], LatencySum>;

class EntrySum {
  readonly #first: HourlyUsageEntry;
  readonly #counts: Counts;
  readonly #latencies: Latencies;
  readonly #failedTries = new Map<string, number>();
  #cost: number | null = null;

  /** @param first names the sum; its counts are not added yet */
  constructor(first: HourlyUsageEntry) {
    this.#first = first;
    this.#counts = Object.fromEntries(counts.map((name) => [name, 0])) as Counts;
    this.#latencies = { headersMs: new LatencySum(), firstContentMs: new LatencySum(), totalMs: new LatencySum() };
  }

  add(entry: UsageEntry): void {
    for (const name of counts) this.#counts[name] += entry[name];
    for (const name of latencies) {
      const distribution = entry[name];
      if (distribution !== null) this.#latencies[name].add(distribution);
    }
    if (entry.cost !== null) this.#cost = (this.#cost ?? 0) + entry.cost;
    for (const { target, errorType, tries } of entry.failedTries) this.#addFailed(`${target}\n${errorType}`, tries);
  }

  entry(): HourlyUsageEntry {
    const { hour, keyId, organizationId, projectId, partnerId, operation, model, target, outcome } = this.#first;
    const totalMs = this.#latencies.totalMs.distribution() ?? noLatencies;
    return {
      hour,
      ...{ keyId, organizationId, projectId, partnerId, operation, model, target, outcome },
      ...this.#counts,
      failedTries: this.#failedEntries(),
      cost: this.#cost,
      ...this.#distributions(),
      totalMs,
    };
  }

  #addFailed(kind: string, tries: number): void {
    const isKnown = this.#failedTries.has(kind) || this.#failedTries.size < maxFailedKinds;
    const counted = isKnown ? kind : `${otherErrorType}\n${otherErrorType}`;
    this.#failedTries.set(counted, (this.#failedTries.get(counted) ?? 0) + tries);
  }

  #failedEntries() {
    return Array.from(this.#failedTries, ([kind, tries]) => {
      const [target = '', errorType = ''] = kind.split('\n');
      return { target, errorType, tries };
    });
  }

  #distributions(): Record<'headersMs' | 'firstContentMs', LatencyDistribution | null> {
    const { headersMs, firstContentMs } = this.#latencies;
    return { headersMs: headersMs.distribution(), firstContentMs: firstContentMs.distribution() };
  }
}
