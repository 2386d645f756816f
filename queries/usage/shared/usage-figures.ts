import * as t from 'io-ts';
import { nullable } from '#shared/codecs/choice.ts';

/** The sums and latencies of calls. */
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
};

const UsageFigures = t.type(usageFigures);

export type UsageFigures = t.TypeOf<typeof UsageFigures>;
