import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import { quantileOf } from '#domain/usage/latency-bins.ts';
import {
  addByName,
  addCounts,
  addUsage,
  type Counts,
  entriesOfTries,
  errorsOf,
  noUsage,
  type UsageSums,
} from '#domain/usage/usage-total.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { periodMs } from '#projections/usage/period.ts';
import type { UsageDocument } from '#projections/usage/usage-by-period.ts';
import { costOf, figuresOf } from '#queries/usage/usage-answer.ts';
import { endOf, keptSince, shifted, startOf, type UsageRange } from '#queries/usage/usage-range.ts';
import type { GatewayAnswer, GatewayFigures, GatewaySeries, Interval } from './gateway-answer.ts';

const hourMs = 60 * 60 * 1_000;
const dayMs = 24 * hourMs;
const defaultMs = dayMs;

/** The longest range of each interval, and the interval of its breakdown. They limit the documents of one answer. */
const intervals: Readonly<Record<Interval, { readonly maxMs: number; readonly breakdown: Interval }>> = {
  minute: { maxMs: 6 * hourMs, breakdown: 'quarter-hour' },
  'quarter-hour': { maxMs: dayMs, breakdown: 'hour' },
  hour: { maxMs: 14 * dayMs, breakdown: 'day' },
  day: { maxMs: 400 * dayMs, breakdown: 'day' },
};

/** The finest interval that the page can still draw for a range up to a length. It is the default `interval`. */
const preferred: ReadonlyArray<readonly [Interval, number]> = [
  ['minute', 3 * hourMs],
  ['quarter-hour', dayMs],
  ['hour', 14 * dayMs],
];

/** The parts of an answer. */
export interface GatewayRange {
  readonly series: UsageRange;
  readonly breakdown: UsageRange;
  /** The same length of time before; null if it is no longer kept. */
  readonly previous: UsageRange | null;
}

/** A client's clock or the time of the request may make a range a little longer than a whole day. */
const tolerance = 1.05;

interface RequestedRange {
  readonly from?: string | undefined;
  readonly until?: string | undefined;
  readonly interval?: Interval | undefined;
}

/** Extends a requested range to whole intervals. @returns invalid-input for a range that is too long or not kept */
export function gatewayRange(requested: RequestedRange, now: string): E.Either<Failure, GatewayRange> {
  const until = requested.until ?? now;
  const from = requested.from ?? shifted(until, -defaultMs);
  const ms = Date.parse(until) - Date.parse(from);
  if (ms <= 0) return refused('/until', `must be later than from, which is ${from}`);
  const interval = requested.interval ?? preferredInterval(from, ms, now);
  const { maxMs, breakdown } = intervals[interval];
  if (ms > tolerance * maxMs)
    return refused('/from', `must be at most ${maxMs / hourMs} hours before until with the interval ${interval}`);
  if (!isKept(interval, from, now))
    return refused('/from', `is too long ago for the interval ${interval}; use a longer interval`);
  return E.right(alignedRange(from, until, interval, breakdown, now));
}

function refused(pointer: string, message: string): E.Either<Failure, never> {
  return E.left(invalidInput([{ pointer, message }]));
}

function preferredInterval(from: string, ms: number, now: string): Interval {
  return preferred.find(([interval, maxMs]) => ms <= tolerance * maxMs && isKept(interval, from, now))?.[0] ?? 'day';
}

function isKept(interval: Interval, from: string, now: string): boolean {
  return from >= (keptSince(interval, now) ?? '');
}

function alignedRange(from: string, until: string, interval: Interval, breakdown: Interval, now: string): GatewayRange {
  const start = startOf(breakdown, from);
  const end = endOf(interval, until);
  const before = shifted(start, Date.parse(start) - Date.parse(end));
  const previous = { length: interval, from: before, until: start };
  return {
    series: { length: interval, from: start, until: end },
    breakdown: { length: breakdown, from: start, until: endOf(breakdown, end) },
    previous: isKept(interval, shifted(before, periodMs[interval]), now) ? previous : null,
  };
}

/** The most models and targets of an answer. */
const maxNames = 50;

/** One entry of a breakdown. */
interface Part {
  readonly model: string;
  readonly target: string;
  readonly calls: ReadonlyArray<number>;
  readonly totals: GatewayAnswer['totals'];
}

/** Groups documents by model and target, most calls first. */
export function breakdownOf(
  documents: ReadonlyArray<UsageDocument>,
  periods: ReadonlyArray<string>,
): ReadonlyArray<Part> {
  const named = Map.groupBy(documents, ({ model, target }) => `${model ?? ''}\n${target ?? ''}`);
  const parts = Array.from(named, ([name, ofName]): Part => {
    const [model = '', target = ''] = name.split('\n');
    const sums = sumsByPeriod(ofName, periods);
    return { model, target, calls: sums.map(({ calls }) => calls), totals: gatewayFiguresOf(totalOf(sums)) };
  });
  return parts.sort((one, other) => other.totals.calls - one.totals.calls).slice(0, maxNames);
}

/** Sums failed tries up by model, target and error, most tries first. */
export function failedTriesOf(documents: ReadonlyArray<UsageDocument>): NonNullable<GatewayAnswer['failedTries']> {
  const byModel = new Map<string, Counts>();
  for (const { model, sums } of documents) {
    if (model !== null) byModel.set(model, addCounts(byModel.get(model) ?? {}, sums.failedTries));
  }
  const tries = [...byModel].flatMap(([model, counts]) => entriesOfTries(counts).map((entry) => ({ model, ...entry })));
  return tries.sort((one, other) => other.tries - one.tries).slice(0, maxNames);
}

/** Returns the sums of each period of a range, in order. */
export function sumsByPeriod(
  documents: ReadonlyArray<UsageDocument>,
  periods: ReadonlyArray<string>,
): ReadonlyArray<UsageSums> {
  const byPeriod = new Map<string, UsageSums>();
  for (const { period, sums } of documents) addByName(byPeriod, period, sums);
  return periods.map((period) => byPeriod.get(period) ?? noUsage);
}

/** Adds the sums of all periods up. */
export function totalOf(sums: ReadonlyArray<UsageSums>): UsageSums {
  return sums.reduce((total, one) => (one === noUsage ? total : addUsage(total, one)), noUsage);
}

/** Converts stored sums to the figures of an answer. */
export function gatewayFiguresOf(sums: UsageSums): GatewayFigures {
  const { failed, brokenOff, refused, clientGone, firstContent } = sums;
  return {
    ...figuresOf(sums),
    ...{ failed, brokenOff, refused, clientGone },
    firstContentP50Ms: quantileOf(firstContent, 0.5),
    firstContentP95Ms: quantileOf(firstContent, 0.95),
    firstContentP99Ms: quantileOf(firstContent, 0.99),
  };
}

/** Returns all curves of sums by period. */
export function seriesOfSums(sums: ReadonlyArray<UsageSums>): GatewaySeries {
  return {
    ...curvesOf(sums),
    failed: sums.map(({ failed }) => failed),
    brokenOff: sums.map(({ brokenOff }) => brokenOff),
    refused: sums.map(({ refused }) => refused),
    clientGone: sums.map(({ clientGone }) => clientGone),
    inputTokens: sums.map(({ inputTokens }) => inputTokens),
    outputTokens: sums.map(({ outputTokens }) => outputTokens),
    p50Ms: sums.map(({ total }) => quantileOf(total, 0.5)),
    p95Ms: sums.map(({ total }) => quantileOf(total, 0.95)),
    p99Ms: sums.map(({ total }) => quantileOf(total, 0.99)),
    firstContentP50Ms: sums.map(({ firstContent }) => quantileOf(firstContent, 0.5)),
    firstContentP95Ms: sums.map(({ firstContent }) => quantileOf(firstContent, 0.95)),
    firstContentP99Ms: sums.map(({ firstContent }) => quantileOf(firstContent, 0.99)),
  };
}

/** Returns the curves that the page also draws for the time before. */
export function curvesOf(sums: ReadonlyArray<UsageSums>): Pick<GatewaySeries, 'calls' | 'errors' | 'cost'> {
  return { calls: sums.map(({ calls }) => calls), errors: sums.map(errorsOf), cost: sums.map(costOf) };
}
