import type { LatencyDistribution } from './events.ts';

/** The error of quantiles is within 2%. Only sketches with the same accuracy can be merged, so events store theirs. */
export const relativeAccuracy = 0.02;

const gamma = (1 + relativeAccuracy) / (1 - relativeAccuracy);

/** Shorter latencies count as this one, because the clock is not more precise. */
const leastMs = 0.001;

/**
 * Bins without gaps, as read models keep them: the index of the first bin, then the count of it and of each one after
 * it. Empty without latencies. See `LatencyDistribution` for what a bin counts.
 */
export type LatencyBins = ReadonlyArray<number>;

export const noBins: LatencyBins = [];

export const noLatencies: LatencyDistribution = { count: 0, sum: 0, min: 0, max: 0, bins: [] };

/** Merges distributions of the same accuracy. */
export class LatencySketch {
  readonly #bins = new Map<number, number>();
  #count = 0;
  #sum = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = 0;

  add(milliseconds: number): void {
    const latency = Math.max(leastMs, milliseconds);
    this.#include(1, latency, latency, latency);
    this.#addToBin(binOf(latency), 1);
  }

  /** Merges a distribution. Null adds nothing. */
  merge(distribution: LatencyDistribution | null): void {
    if (distribution === null || distribution.count === 0) return;
    const { count, sum, min, max, bins } = distribution;
    this.#include(count, sum, min, max);
    for (const [bin, latencies] of bins) this.#addToBin(bin, latencies);
  }

  /** The merged distribution; null without latencies. */
  distribution(): LatencyDistribution | null {
    if (this.#count === 0) return null;
    const bins = [...this.#bins].sort(([one], [other]) => one - other);
    const [sum, min, max] = [rounded(this.#sum), rounded(this.#min), rounded(this.#max)];
    return { count: this.#count, sum, min, max, bins };
  }

  #include(count: number, sum: number, min: number, max: number): void {
    this.#count += count;
    this.#sum += sum;
    this.#min = Math.min(this.#min, min);
    this.#max = Math.max(this.#max, max);
  }

  #addToBin(bin: number, latencies: number): void {
    this.#bins.set(bin, (this.#bins.get(bin) ?? 0) + latencies);
  }
}

/** @param accuracy of its sketch; another one is converted to ours */
export function binsOf(distribution: LatencyDistribution | null, accuracy: number): LatencyBins {
  if (distribution === null) return noBins;
  const bins = accuracy === relativeAccuracy ? distribution.bins : rebinned(distribution.bins, accuracy);
  return dense(bins);
}

/** @param sign -1 subtracts the second from the first */
export function addBins(some: LatencyBins, others: LatencyBins, sign: 1 | -1 = 1): LatencyBins {
  if (others.length === 0) return some;
  if (some.length === 0 && sign === 1) return others;
  const first = Math.min(firstOf(some, others), firstOf(others, some));
  const sums: number[] = new Array(Math.max(endOf(some), endOf(others)) - first).fill(0);
  addTo(sums, first, some, 1);
  addTo(sums, first, others, sign);
  return trimmed(first, sums);
}

export function countLatencies(bins: LatencyBins): number {
  let count = 0;
  for (let index = 1; index < bins.length; index += 1) count += bins[index] ?? 0;
  return count;
}

/** The quantile by nearest rank, in ms to the tenth; null without any latency. @param part from 0 to 1 */
export function quantileOf(bins: LatencyBins, part: number): number | null {
  const rank = Math.max(0, Math.ceil(part * countLatencies(bins)) - 1);
  let seen = 0;
  for (let index = 1; index < bins.length; index += 1) {
    seen += bins[index] ?? 0;
    if (seen > rank) return Math.round(middleOf((bins[0] ?? 0) + index - 1) * 10) / 10;
  }
  return null;
}

/** @param latency in ms */
function binOf(latency: number): number {
  return Math.ceil(Math.log(latency) / Math.log(gamma));
}

/** A latency that is within the accuracy of all latencies in the bin. */
function middleOf(bin: number): number {
  return (2 * gamma ** bin) / (gamma + 1);
}

function rebinned(bins: LatencyDistribution['bins'], accuracy: number): LatencyDistribution['bins'] {
  const from = (1 + accuracy) / (1 - accuracy);
  const counts = new Map<number, number>();
  for (const [bin, count] of bins) {
    const ours = binOf((2 * from ** bin) / (from + 1));
    counts.set(ours, (counts.get(ours) ?? 0) + count);
  }
  return [...counts].sort(([one], [other]) => one - other);
}

function dense(bins: LatencyDistribution['bins']): LatencyBins {
  const [first, last] = [bins[0], bins.at(-1)];
  if (first === undefined || last === undefined) return noBins;
  const counts: number[] = new Array(last[0] - first[0] + 1).fill(0);
  for (const [bin, count] of bins) counts[bin - first[0]] = count;
  return [first[0], ...counts];
}

const firstOf = (bins: LatencyBins, others: LatencyBins) => bins[0] ?? others[0] ?? 0;
const endOf = (bins: LatencyBins) => (bins.length === 0 ? Number.MIN_SAFE_INTEGER : (bins[0] ?? 0) + bins.length - 1);

function addTo(sums: number[], first: number, bins: LatencyBins, sign: 1 | -1): void {
  const offset = (bins[0] ?? 0) - first - 1;
  for (let index = 1; index < bins.length; index += 1) {
    sums[offset + index] = (sums[offset + index] ?? 0) + sign * (bins[index] ?? 0);
  }
}

/** Removes empty bins, so that the same latencies always give the same bins. */
function trimmed(first: number, counts: ReadonlyArray<number>): LatencyBins {
  const start = counts.findIndex((count) => count !== 0);
  if (start < 0) return noBins;
  const end = counts.findLastIndex((count) => count !== 0);
  return [first + start, ...counts.slice(start, end + 1)];
}

/** Rounds to the microsecond; further digits are noise. */
function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000;
}
