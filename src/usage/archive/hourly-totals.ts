import type { HourlyUsageEntry, UsageEntry } from '#domain/usage/events.ts';
import { UsageTotal } from '#domain/usage/usage-total.ts';

const maxKindsOfTries = 51;

/** The key, model and target of an entry. A closing never divides entries with the same group among events. */
export function entryGroupOf({ keyId, model, target }: UsageEntry): string {
  return JSON.stringify([keyId, model, target]);
}

interface HourlyTotal {
  readonly first: HourlyUsageEntry;
  readonly total: UsageTotal;
}

/** Adds up usage by hour, key, owner, operation, model, target and outcome. */
export class HourlyTotals {
  /** The totals by group, then by the other members in which entries differ. */
  readonly #groups = new Map<string, Map<string, HourlyTotal>>();

  groups(): IterableIterator<string> {
    return this.#groups.keys();
  }

  add(entry: HourlyUsageEntry): void {
    const group = entryGroupOf(entry);
    const sums = this.#groups.get(group) ?? new Map<string, HourlyTotal>();
    this.#groups.set(group, sums);
    const { hour, organizationId, projectId, partnerId, operation, outcome } = entry;
    const name = JSON.stringify([hour, organizationId, projectId, partnerId, operation, outcome]);
    const sum = sums.get(name) ?? { first: entry, total: new UsageTotal(maxKindsOfTries) };
    sums.set(name, sum);
    sum.total.add(entry);
  }

  /** The entries in the order of their hours. */
  entries(group: string): ReadonlyArray<HourlyUsageEntry> {
    const sums = this.#groups.get(group)?.values() ?? [];
    const entries = Array.from(sums, ({ first, total }) => ({ ...first, ...total.amounts() }));
    return entries.sort((one, other) => (one.hour < other.hour ? -1 : one.hour > other.hour ? 1 : 0));
  }
}
