import type { Tenant } from '#domain/shared/tenancy.ts';
import { addCost, addCounters, addTries, type Counts, entriesOfTries, triesByKind, zeros } from './counters.ts';
import { amountNames, type UsageEntry } from './events.ts';
import { LatencySketch, noLatencies } from './latency-bins.ts';

/** The members in which entries differ. */
export type UsageLabels = Pick<UsageEntry, keyof Tenant | 'keyId' | 'operation' | 'model' | 'target' | 'outcome'>;

/** The members of entries that are added up. */
export type UsageAmounts = Omit<UsageEntry, keyof UsageLabels>;

const counters = ['calls', 'streamed', 'attempts', ...amountNames] as const;
const latencies = ['headersMs', 'firstContentMs', 'totalMs'] as const;

/** The amounts of no calls. */
export const noAmounts: UsageAmounts = {
  ...zeros(counters),
  failedTries: [],
  cost: null,
  headersMs: null,
  firstContentMs: null,
  totalMs: noLatencies,
};

/** Adds up what calls use, in the form of an event's entry. */
export class UsageTotal {
  readonly #maxKindsOfTries: number;
  readonly #latencies = {
    headersMs: new LatencySketch(),
    firstContentMs: new LatencySketch(),
    totalMs: new LatencySketch(),
  };
  #counters = zeros(counters);
  #failedTries: Counts = {};
  #cost: number | null = null;

  /** @param maxKindsOfTries the most kinds of failed tries; further ones count as `_OTHER` */
  constructor(maxKindsOfTries: number) {
    this.#maxKindsOfTries = maxKindsOfTries;
  }

  /** Adds amounts. Their latencies have the accuracy of all others. */
  add(amounts: UsageAmounts): void {
    const { failedTries, cost } = amounts;
    this.#counters = addCounters(counters, this.#counters, amounts);
    this.#failedTries = addTries(this.#failedTries, triesByKind(failedTries), this.#maxKindsOfTries);
    this.#cost = addCost(this.#cost, cost);
    for (const name of latencies) this.#latencies[name].merge(amounts[name]);
  }

  /** The sums so far. */
  amounts(): UsageAmounts {
    const { headersMs, firstContentMs, totalMs } = this.#latencies;
    return {
      ...this.#counters,
      failedTries: entriesOfTries(this.#failedTries),
      cost: this.#cost,
      headersMs: headersMs.distribution(),
      firstContentMs: firstContentMs.distribution(),
      totalMs: totalMs.distribution() ?? noLatencies,
    };
  }
}
