import type { FailedTriesEntry } from './events.ts';

/** Counters with fixed names. */
export type Counters<Name extends string> = Readonly<Record<Name, number>>;

/** Counts by names that calls choose. */
export type Counts = Readonly<Record<string, number>>;

/** The kind of further failed tries when there are too many kinds. */
const otherKind = '_OTHER\n_OTHER';

/** Returns the counters with the given names, all 0. */
export function zeros<Name extends string>(names: ReadonlyArray<Name>): Counters<Name> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Counters<Name>;
}

/**
 * Adds the counters with the given names.
 * @param sign -1 subtracts the second from the first
 */
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

/**
 * Adds costs; null is the cost of calls without a price.
 * @param sign -1 subtracts the second from the first
 */
export function addCost(some: number | null, other: number | null, sign: 1 | -1 = 1): number | null {
  return other === null ? some : (some ?? 0) + sign * other;
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
 * Adds failed tries by kind, because providers choose the names of errors.
 * @param maxKinds the most kinds of the result; further tries count as `_OTHER`
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

/** Returns the failed tries of an entry by kind: target and type of error, with a line feed, which neither contains. */
export function triesByKind(entries: ReadonlyArray<FailedTriesEntry>): Counts {
  const tries: Record<string, number> = {};
  for (const { target, errorType, tries: count } of entries) {
    const kind = `${target}\n${errorType}`;
    tries[kind] = (tries[kind] ?? 0) + count;
  }
  return tries;
}

/** Returns failed tries by kind as entries. */
export function entriesOfTries(tries: Counts): ReadonlyArray<FailedTriesEntry> {
  return Object.entries(tries).map(([kind, count]) => {
    const [target = '', errorType = ''] = kind.split('\n');
    return { target, errorType, tries: count };
  });
}
