import type { UsageEntry } from './events.ts';
import { addBins, binsOf, type LatencyBins, noBins } from './latency-bins.ts';

/** The sums of calls in read models. They can be added and subtracted. */
export interface UsageSums {
  readonly calls: number;
  readonly failed: number;
  readonly brokenOff: number;
  readonly refused: number;
  readonly clientGone: number;
  readonly callsWithTokens: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly characters: number;
  readonly audioSeconds: number;
  /** Null if no call has a price. */
  readonly cost: number | null;
  /** Calls by operation. */
  readonly operations: Counts;
  /** Failed attempts, by target and type of error with a line feed between them. */
  readonly failedTries: Counts;
  readonly total: LatencyBins;
  readonly firstContent: LatencyBins;
}

/** Counts by name. */
export type Counts = Readonly<Record<string, number>>;

/** The most names in one sum; further attempts count as `_OTHER`. */
const maxKindsOfTries = 50;
const otherTries = '_OTHER\n_OTHER';

/** The sums of no calls. */
export const noUsage: UsageSums = {
  calls: 0,
  failed: 0,
  brokenOff: 0,
  refused: 0,
  clientGone: 0,
  callsWithTokens: 0,
  inputTokens: 0,
  outputTokens: 0,
  characters: 0,
  audioSeconds: 0,
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
  const { calls, outcome, operation, callsWithTokens, inputTokens, outputTokens, characters, audioSeconds, cost } =
    entry;
  const of = (name: string) => (outcome === name ? calls : 0);
  return {
    calls,
    failed: of('failed'),
    brokenOff: of('broken-off'),
    refused: of('refused'),
    clientGone: of('client-gone'),
    ...{ callsWithTokens, inputTokens, outputTokens, characters, audioSeconds, cost },
    operations: addCounts({}, { [operation]: calls }),
    failedTries: triesOf(entry),
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
    calls: some.calls + sign * others.calls,
    failed: some.failed + sign * others.failed,
    brokenOff: some.brokenOff + sign * others.brokenOff,
    refused: some.refused + sign * others.refused,
    clientGone: some.clientGone + sign * others.clientGone,
    callsWithTokens: some.callsWithTokens + sign * others.callsWithTokens,
    inputTokens: some.inputTokens + sign * others.inputTokens,
    outputTokens: some.outputTokens + sign * others.outputTokens,
    characters: some.characters + sign * others.characters,
    audioSeconds: some.audioSeconds + sign * others.audioSeconds,
    cost: others.cost === null ? some.cost : (some.cost ?? 0) + sign * others.cost,
    operations: addCounts(some.operations, others.operations, sign),
    failedTries: bounded(addCounts(some.failedTries, others.failedTries, sign)),
    total: addBins(some.total, others.total, sign),
    firstContent: addBins(some.firstContent, others.firstContent, sign),
  };
}

/** Calls that failed or broke off, which bills and the dashboard show as errors. */
export function errorsOf({ failed, brokenOff }: UsageSums): number {
  return failed + brokenOff;
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

function triesOf({ failedTries }: UsageEntry): Counts {
  if (failedTries.length === 0) return {};
  const tries: Record<string, number> = {};
  for (const { target, errorType, tries: count } of failedTries) {
    const kind = `${target}\n${errorType}`;
    tries[kind] = (tries[kind] ?? 0) + count;
  }
  return tries;
}

function bounded(counts: Counts): Counts {
  const names = Object.keys(counts);
  if (names.length <= maxKindsOfTries) return counts;
  const kept: Record<string, number> = {};
  for (const name of names) {
    const known = name === otherTries || Object.keys(kept).length < maxKindsOfTries - 1;
    const kind = known ? name : otherTries;
    kept[kind] = (kept[kind] ?? 0) + (counts[name] ?? 0);
  }
  return kept;
}
