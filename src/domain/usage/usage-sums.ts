import {
  addCost,
  addCounters,
  addCounts,
  addTries,
  type Counters,
  type Counts,
  triesByKind,
  zeros,
} from './counters.ts';
import { amountNames, type UsageEntry } from './events.ts';
import { addBins, binsOf, type LatencyBins, noBins } from './latency-bins.ts';

const counters = ['calls', 'failed', 'brokenOff', 'refused', 'clientGone', ...amountNames] as const;

/** The sums of calls in read models. They can be added and subtracted. */
export interface UsageSums extends Counters<(typeof counters)[number]> {
  /** Null if no call has a price. */
  readonly cost: number | null;
  /** Calls by operation. */
  readonly operations: Counts;
  /** Failed attempts, by target and type of error with a line feed between them. */
  readonly failedTries: Counts;
  readonly total: LatencyBins;
  readonly firstContent: LatencyBins;
}

/** The most kinds of failed tries in one sum. */
const maxKindsOfTries = 50;

/** The sums of no calls. */
export const noUsage: UsageSums = {
  ...zeros(counters),
  cost: null,
  operations: {},
  failedTries: {},
  total: noBins,
  firstContent: noBins,
};

/**
 * The sums of one entry.
 * @param accuracy the accuracy of its sketches
 */
export function sumsOf(entry: UsageEntry, accuracy: number): UsageSums {
  const { calls, outcome, operation, cost } = entry;
  const of = (name: string) => (outcome === name ? calls : 0);
  const ofOutcome = {
    failed: of('failed'),
    brokenOff: of('broken-off'),
    refused: of('refused'),
    clientGone: of('client-gone'),
  };
  return {
    ...addCounters(counters, noUsage, { ...entry, ...ofOutcome }),
    cost,
    operations: addCounts({}, { [operation]: calls }),
    failedTries: triesByKind(entry.failedTries),
    total: binsOf(entry.totalMs, accuracy),
    firstContent: binsOf(entry.firstContentMs, accuracy),
  };
}

/**
 * Adds two sums.
 * @param sign -1 subtracts the second from the first
 */
export function addUsage(some: UsageSums, others: UsageSums, sign: 1 | -1 = 1): UsageSums {
  return {
    ...addCounters(counters, some, others, sign),
    cost: addCost(some.cost, others.cost, sign),
    operations: addCounts(some.operations, others.operations, sign),
    failedTries: addTries(some.failedTries, others.failedTries, maxKindsOfTries, sign),
    total: addBins(some.total, others.total, sign),
    firstContent: addBins(some.firstContent, others.firstContent, sign),
  };
}

/** Calls that failed or broke off, which bills and the dashboard show as errors. */
export function errorsOf({ failed, brokenOff }: UsageSums): number {
  return failed + brokenOff;
}
