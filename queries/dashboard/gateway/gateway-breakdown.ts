import { addCounts, type Counts, entriesOfTries } from '#domain/usage/usage-total.ts';
import type { UsageDocument } from '#projections/usage/usage-by-period.ts';
import type { GatewayAnswer } from '../answers/gateway-answer.ts';
import { gatewayFiguresOf, sumsByPeriod, totalOf } from './gateway-series.ts';

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
