import type { Tenant } from '#domain/shared/access.ts';
import { amountNames, type FailedTriesEntry, type TokenPartName, tokenPartNames, type UsageEntry } from './events.ts';
import { addBins, binsOf, type LatencyBins, LatencySketch, noBins, noLatencies } from './latency-bins.ts';

export type Counters<Name extends string> = Readonly<Record<Name, number>>;

/** Counts by names that calls choose. */
export type Counts = Readonly<Record<string, number>>;

/** The kind of further failed tries when there are too many kinds. */
const otherKind = '_OTHER\n_OTHER';

export function zeros<Name extends string>(names: ReadonlyArray<Name>): Counters<Name> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Counters<Name>;
}

/** @param sign -1 subtracts the second from the first */
export function addCounters<Name extends string>(
  names: ReadonlyArray<Name>,
  some: Counters<Name>,
  others: Counters<Name>,
  sign: 1 | -1 = 1,
): Counters<Name> {
  const sums: Partial<Record<Name, number>> = {};
  for (const name of names) sums[name] = some[name] + sign * others[name];
  return sums as Counters<Name>;
}

/** Null is the cost of calls without a price. @param sign -1 subtracts the second from the first */
export function addCost(some: number | null, other: number | null, sign: 1 | -1 = 1): number | null {
  return other === null ? some : (some ?? 0) + sign * other;
}

/** The number of each part of the tokens; null for a part that nothing has reported. */
export type TokenParts = Readonly<Record<TokenPartName, number | null>>;

export const noTokenParts: TokenParts = { cachedInputTokens: null, cacheWriteTokens: null, reasoningTokens: null };

/** Adds parts as costs are added. @param sign -1 subtracts the second from the first */
export function addTokenParts(some: TokenParts, others: TokenParts, sign: 1 | -1 = 1): TokenParts {
  const sums: Partial<Record<TokenPartName, number | null>> = {};
  // Documents of an earlier version, which are read while they are made again, have no parts.
  for (const name of tokenPartNames) sums[name] = addCost(some[name] ?? null, others[name] ?? null, sign);
  return sums as TokenParts;
}

/** Adds counts by name; a name with the sum 0 is removed. */
export function addCounts(some: Counts, others: Counts, sign: 1 | -1 = 1): Counts {
  const names = Object.keys(others);
  if (names.length === 0) return some;
  const sums: Record<string, number> = { ...some };
  for (const name of names) {
    const sum = (sums[name] ?? 0) + sign * (others[name] ?? 0);
    if (sum === 0) delete sums[name];
    else sums[name] = sum;
  }
  return sums;
}

/**
 * Adds counts by kind, because providers choose the names of errors.
 * @param maxKinds of the result; further tries count as `_OTHER`
 */
export function addTries(some: Counts, others: Counts, maxKinds: number, sign: 1 | -1 = 1): Counts {
  const sums = addCounts(some, others, sign);
  const names = Object.keys(sums);
  if (names.length <= maxKinds) return sums;
  const kept: Record<string, number> = {};
  for (const name of names) {
    const isKept = name === otherKind || Object.keys(kept).length < maxKinds - 1;
    const kind = isKept ? name : otherKind;
    kept[kind] = (kept[kind] ?? 0) + (sums[name] ?? 0);
  }
  return kept;
}

/** Counts tries by target and type of error, with a line feed between them, which neither contains. */
export function triesByKind(entries: ReadonlyArray<FailedTriesEntry>): Counts {
  const tries: Record<string, number> = {};
  for (const { target, errorType, tries: count } of entries) {
    const kind = `${target}\n${errorType}`;
    tries[kind] = (tries[kind] ?? 0) + count;
  }
  return tries;
}

export function entriesOfTries(tries: Counts): ReadonlyArray<FailedTriesEntry> {
  return Object.entries(tries).map(([kind, count]) => {
    const [target = '', errorType = ''] = kind.split('\n');
    return { target, errorType, tries: count };
  });
}

/** The members in which entries differ. */
export type UsageLabels = Pick<UsageEntry, keyof Tenant | 'keyId' | 'operation' | 'model' | 'target' | 'outcome'>;

export type UsageAmounts = Omit<UsageEntry, keyof UsageLabels>;

/** The amounts of one call: its latencies are those that were measured, in ms. */
export interface CallAmounts extends Omit<UsageAmounts, (typeof latencies)[number]> {
  readonly headersMs: number | null;
  readonly firstContentMs: number | null;
  readonly totalMs: number;
}

const counters = ['calls', 'streamed', 'attempts', ...amountNames] as const;
const latencies = ['headersMs', 'firstContentMs', 'totalMs'] as const;

export const noAmounts: UsageAmounts = {
  ...zeros(counters),
  ...noTokenParts,
  failedTries: [],
  cost: null,
  headersMs: null,
  firstContentMs: null,
  totalMs: noLatencies,
};

/** A total in the form of an event's entry. */
export class UsageTotal {
  readonly #maxKindsOfTries: number;
  readonly #latencies = {
    headersMs: new LatencySketch(),
    firstContentMs: new LatencySketch(),
    totalMs: new LatencySketch(),
  };
  // Changed in place, because every call is added here.
  readonly #counters: Record<(typeof counters)[number], number> = zeros(counters);
  readonly #tokenParts: Record<TokenPartName, number | null> = { ...noTokenParts };
  #failedTries: Counts = {};
  #cost: number | null = null;

  /** @param maxKindsOfTries further kinds count as `_OTHER` */
  constructor(maxKindsOfTries: number) {
    this.#maxKindsOfTries = maxKindsOfTries;
  }

  /** Adds amounts, whose latencies have the accuracy of all others. */
  add(amounts: UsageAmounts): void {
    this.#addSums(amounts);
    for (const name of latencies) this.#latencies[name].merge(amounts[name]);
  }

  addCall(amounts: CallAmounts): void {
    this.#addSums(amounts);
    const { headersMs, firstContentMs, totalMs } = amounts;
    if (headersMs !== null) this.#latencies.headersMs.add(headersMs);
    if (firstContentMs !== null) this.#latencies.firstContentMs.add(firstContentMs);
    this.#latencies.totalMs.add(totalMs);
  }

  #addSums(amounts: Omit<UsageAmounts, (typeof latencies)[number]>): void {
    const { failedTries, cost } = amounts;
    for (const name of counters) this.#counters[name] += amounts[name];
    for (const name of tokenPartNames) this.#tokenParts[name] = addCost(this.#tokenParts[name], amounts[name]);
    if (failedTries.length > 0)
      this.#failedTries = addTries(this.#failedTries, triesByKind(failedTries), this.#maxKindsOfTries);
    this.#cost = addCost(this.#cost, cost);
  }

  /** The amounts so far. */
  amounts(): UsageAmounts {
    const { headersMs, firstContentMs, totalMs } = this.#latencies;
    return {
      ...this.#counters,
      ...this.#tokenParts,
      failedTries: entriesOfTries(this.#failedTries),
      cost: this.#cost,
      headersMs: headersMs.distribution(),
      firstContentMs: firstContentMs.distribution(),
      totalMs: totalMs.distribution() ?? noLatencies,
    };
  }
}

const summedCounters = ['calls', 'failed', 'brokenOff', 'refused', 'clientGone', ...amountNames] as const;

/** Sums of calls in read models. They can be added and subtracted. */
export interface UsageSums extends Counters<(typeof summedCounters)[number]>, TokenParts {
  /** The cost; null if no call has a price. */
  readonly cost: number | null;
  readonly operations: Counts;
  /** Counts by target and type of error, with a line feed between them. */
  readonly failedTries: Counts;
  readonly total: LatencyBins;
  readonly firstContent: LatencyBins;
}

const maxKindsOfTries = 50;

export const noUsage: UsageSums = {
  ...zeros(summedCounters),
  ...noTokenParts,
  cost: null,
  operations: {},
  failedTries: {},
  total: noBins,
  firstContent: noBins,
};

/** @param accuracy of the entry's sketches */
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
    ...addCounters(summedCounters, noUsage, { ...entry, ...ofOutcome }),
    ...addTokenParts(noTokenParts, entry),
    cost,
    operations: addCounts({}, { [operation]: calls }),
    failedTries: triesByKind(entry.failedTries),
    total: binsOf(entry.totalMs, accuracy),
    firstContent: binsOf(entry.firstContentMs, accuracy),
  };
}

/** @param sign -1 subtracts the second from the first */
export function addUsage(some: UsageSums, others: UsageSums, sign: 1 | -1 = 1): UsageSums {
  return {
    ...addCounters(summedCounters, some, others, sign),
    ...addTokenParts(some, others, sign),
    cost: addCost(some.cost, others.cost, sign),
    operations: addCounts(some.operations, others.operations, sign),
    failedTries: addTries(some.failedTries, others.failedTries, maxKindsOfTries, sign),
    total: addBins(some.total, others.total, sign),
    firstContent: addBins(some.firstContent, others.firstContent, sign),
  };
}

export function addByName(byName: Map<string, UsageSums>, name: string, sums: UsageSums): void {
  const known = byName.get(name);
  byName.set(name, known === undefined ? sums : addUsage(known, sums));
}

/** The calls that failed or broke off: bills and the dashboard show both as errors. */
export function errorsOf({ failed, brokenOff }: UsageSums): number {
  return failed + brokenOff;
}
