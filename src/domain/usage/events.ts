import * as t from 'io-ts';
import { nullable } from '#domain/codecs/codecs.ts';

/**
 * How latencies, in ms, are distributed: a DDSketch (arXiv 1908.10693). Bin i counts the latencies in (γ^(i-1), γ^i],
 * with γ = (1 + a) / (1 - a) for the relative accuracy a, so that sketches of the same accuracy are merged by adding
 * their bins, and any quantile is found within that accuracy.
 */
const Latencies = t.type({
  count: t.number,
  sum: t.number,
  min: t.number,
  max: t.number,
  /** Bins that are not empty, as [i, count], in order. */
  bins: t.readonlyArray(t.tuple([t.number, t.number])),
});

/** Tries that failed, whatever became of their calls. */
const FailedTries = t.type({
  /** `provider/model`, or `_OTHER` where there were too many kinds to tell apart. */
  target: t.string,
  /** The provider's code or the gateway's, or `_OTHER`. */
  errorType: t.string,
  tries: t.number,
});

/** What the calls of one key to one target came to, by outcome. */
const Usage = t.type({
  keyId: t.string,
  /**
   * Whose key it was when it called: a key may be revoked and its record gone when this is read. All three are null
   * where that is not known, in events of schema versions before 3.
   */
  organizationId: nullable(t.string),
  projectId: nullable(t.string),
  partnerId: nullable(t.string),
  operation: t.string,
  model: t.string,
  target: nullable(t.string),
  outcome: t.string,
  calls: t.number,
  streamed: t.number,
  attempts: t.number,
  /** Of all attempts of these calls, those that failed: of the target above and of those asked before it. */
  failedTries: t.readonlyArray(FailedTries),
  /** The calls whose tokens are known: the sums are theirs. */
  callsWithTokens: t.number,
  inputTokens: t.number,
  outputTokens: t.number,
  /** Unicode characters of texts that were spoken. */
  characters: t.number,
  /** Of audio that was transcribed, where providers told its length. */
  audioSeconds: t.number,
  /** By the configured price, in its currency; null where none of the calls has one. */
  cost: nullable(t.number),
  headersMs: nullable(Latencies),
  firstContentMs: nullable(Latencies),
  totalMs: Latencies,
});

/** The events of a node's metering, one stream a day. No prompt and no answer is in them. */
export const usageEvents = {
  UsageRecorded: t.type({
    node: t.string,
    from: t.string,
    until: t.string,
    /** Of the sketches. */
    relativeAccuracy: t.number,
    /** Calls that found no room in memory while events could not be stored: nothing more is known of them. */
    callsLost: t.number,
    usage: t.readonlyArray(Usage),
  }),
};

export type UsageEvents = { [Type in keyof typeof usageEvents]: t.TypeOf<(typeof usageEvents)[Type]> };
export type LatencyDistribution = t.TypeOf<typeof Latencies>;
export type FailedTriesEntry = t.TypeOf<typeof FailedTries>;
export type UsageEntry = t.TypeOf<typeof Usage>;
