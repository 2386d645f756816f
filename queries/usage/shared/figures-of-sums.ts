import { quantileOf } from '#domain/usage/latency-bins.ts';
import { errorsOf, type UsageSums } from '#domain/usage/usage-total.ts';
import type { UsageFigures } from './usage-figures.ts';

/** Converts stored sums to the figures of an answer. */
export function figuresOf(sums: UsageSums): UsageFigures {
  const { calls, callsWithTokens, inputTokens, outputTokens, characters, audioSeconds, total } = sums;
  return {
    ...{ calls, callsWithTokens },
    errors: errorsOf(sums),
    ...{ inputTokens, outputTokens, characters },
    audioSeconds: rounded(audioSeconds, 6),
    cost: costOf(sums),
    p50Ms: quantileOf(total, 0.5),
    p95Ms: quantileOf(total, 0.95),
    p99Ms: quantileOf(total, 0.99),
  };
}

/** The cost rounded to a billionth, because smaller digits depend on the order of the addition. */
export function costOf({ cost }: UsageSums): number | null {
  return cost === null ? null : rounded(cost, 9);
}

function rounded(value: number, decimals: number): number {
  return Math.round(value * 10 ** decimals) / 10 ** decimals;
}
