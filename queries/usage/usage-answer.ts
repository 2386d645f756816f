import * as t from 'io-ts';
import { timestamp } from '#domain/codecs/time.ts';
import { quantileOf } from '#domain/usage/latency-bins.ts';
import { addTokenParts, errorsOf, noTokenParts, type UsageSums } from '#domain/usage/usage-total.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

export const usageFigures = {
  calls: t.number,
  /** The calls whose tokens are known. Only they are in the sums of tokens and the costs by tokens. */
  callsWithTokens: t.number,
  /** Calls that failed or ended in the middle of the answer, without calls that were refused because of the caller. */
  errors: t.number,
  inputTokens: t.number,
  outputTokens: t.number,
  characters: t.number,
  audioSeconds: t.number,
  /** By the configured prices, in their currency; null if no call has a price. */
  cost: nullable(t.number),
  /** Latencies of the whole answer, within 2%; null if there are no calls. */
  p50Ms: nullable(t.number),
  p95Ms: nullable(t.number),
  p99Ms: nullable(t.number),
  /** The part of the input that providers read from their caches; null if none has reported it. */
  cachedInputTokens: nullable(t.number),
  /** The part of the input that providers wrote to their caches; null if none has reported it. */
  cacheWriteTokens: nullable(t.number),
  /** The part of the output that was reasoning; null if no provider has reported it. */
  reasoningTokens: nullable(t.number),
};

/** A row has the members that `groupBy` names. */
const Group = t.partial({
  /** The first moment of the hour in UTC. */
  hour: timestamp,
  /** The day in UTC, `2026-01-05`. */
  day: text(),
  /** The id of the API key. */
  key: text(),
  /** The id of the project; null for calls without a recorded project. */
  project: nullable(text()),
  model: text(),
  /** `provider/model`; null for calls that went to no target. */
  target: nullable(text()),
  /** What was called: `chat`, `messages`, `embeddings`, `speech` or `transcription`. */
  endpoint: text(),
});

const UsageRow = t.intersection([Group, t.type(usageFigures)], 'UsageRow');

export type UsageRow = t.TypeOf<typeof UsageRow>;

/** Rows are in the order of time, then by calls, most first. */
export const UsageAnswer = t.type(
  {
    /** The counted range: that of the request, extended to whole hours, or to days if hours are no longer kept. */
    from: timestamp,
    until: timestamp,
    rows: t.readonlyArray(UsageRow),
  },
  'Usage',
);

export type UsageAnswer = t.TypeOf<typeof UsageAnswer>;

const UsageFigures = t.type(usageFigures);

export type UsageFigures = t.TypeOf<typeof UsageFigures>;

export function figuresOf(sums: UsageSums): UsageFigures {
  const { calls, callsWithTokens, inputTokens, outputTokens, characters, audioSeconds, total } = sums;
  const tokenParts = addTokenParts(noTokenParts, sums);
  return {
    ...{ calls, callsWithTokens },
    errors: errorsOf(sums),
    ...{ inputTokens, outputTokens, characters },
    audioSeconds: rounded(audioSeconds, 6),
    cost: roundedCost(sums),
    p50Ms: quantileOf(total, 0.5),
    p95Ms: quantileOf(total, 0.95),
    p99Ms: quantileOf(total, 0.99),
    ...tokenParts,
  };
}

/** Rounded to a billionth, because smaller digits depend on the order of the addition. */
export function roundedCost({ cost }: UsageSums): number | null {
  return cost === null ? null : rounded(cost, 9);
}

function rounded(value: number, decimals: number): number {
  return Math.round(value * 10 ** decimals) / 10 ** decimals;
}
