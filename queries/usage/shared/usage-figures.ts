import * as t from 'io-ts';
import { nullable } from '#shared/codecs/choice.ts';

/** What calls came to. */
export const usageFigures = {
  calls: t.number,
  /** The calls whose tokens are known: the sums of tokens, and costs by tokens, are theirs alone. */
  callsWithTokens: t.number,
  /** Calls that failed or broke off in mid-answer. Calls refused by the caller's own fault are none. */
  errors: t.number,
  inputTokens: t.number,
  outputTokens: t.number,
  characters: t.number,
  audioSeconds: t.number,
  /** By the configured prices, in their currency; null where none of the calls has one. */
  cost: nullable(t.number),
  /** Of the whole answer, within 2%; null without calls. */
  p50Ms: nullable(t.number),
  p95Ms: nullable(t.number),
  p99Ms: nullable(t.number),
};

const UsageFigures = t.type(usageFigures);

export type UsageFigures = t.TypeOf<typeof UsageFigures>;
