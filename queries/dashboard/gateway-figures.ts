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
import type { UsageDocument } from '#projections/usage/usage-by-period.ts';
import { figuresOf, roundedCost } from '#queries/usage/usage-answer.ts';
import type { GatewayAnswer, GatewayFigures, GatewaySeries } from './gateway-answer.ts';

/** Maximum number of models and of targets in an answer. */
const maxNames = 50;

interface Part {
  readonly model: string;
  readonly target: string;
  readonly calls: ReadonlyArray<number>;
  readonly totals: GatewayAnswer['totals'];
}

/** Sums the calls by model and target, most calls first. */
export function breakdownOf(
  documents: ReadonlyArray<UsageDocument>,
  periods: ReadonlyArray<string>,
): ReadonlyArray<Part> {
  const named = Map.groupBy(documents, ({ model, target }) => `${model ?? ''}\n${target ?? ''}`);
  const parts = Array.from(named, ([name, ofName]): Part => {
    const [model = '', target = ''] = name.split('\n');
    const sums = sumsByPeriod(ofName, periods);
    return { model, target, calls: sums.map(({ calls }) => calls), totals: gatewayFiguresOf(sumUsage(sums)) };
  });
  return parts.sort((one, other) => other.totals.calls - one.totals.calls).slice(0, maxNames);
}

/** Sums the failed tries by model, target and error, most tries first. */
export function failedTriesOf(documents: ReadonlyArray<UsageDocument>): NonNullable<GatewayAnswer['failedTries']> {
  const byModel = new Map<string, Counts>();
  for (const { model, sums } of documents) {
    if (model !== null) byModel.set(model, addCounts(byModel.get(model) ?? {}, sums.failedTries));
  }
  const tries = [...byModel].flatMap(([model, counts]) => entriesOfTries(counts).map((entry) => ({ model, ...entry })));
  return tries.sort((one, other) => other.tries - one.tries).slice(0, maxNames);
}

/** One sum for each period in order, also for periods without calls. */
export function sumsByPeriod(
  documents: ReadonlyArray<UsageDocument>,
  periods: ReadonlyArray<string>,
): ReadonlyArray<UsageSums> {
  const byPeriod = new Map<string, UsageSums>();
  for (const { period, sums } of documents) addByName(byPeriod, period, sums);
  return periods.map((period) => byPeriod.get(period) ?? noUsage);
}

export function sumUsage(sums: ReadonlyArray<UsageSums>): UsageSums {
  return sums.reduce((total, one) => (one === noUsage ? total : addUsage(total, one)), noUsage);
}

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

/** The page draws them for the time before, too. */
export function curvesOf(sums: ReadonlyArray<UsageSums>): Pick<GatewaySeries, 'calls' | 'errors' | 'cost'> {
  return { calls: sums.map(({ calls }) => calls), errors: sums.map(errorsOf), cost: sums.map(roundedCost) };
}
