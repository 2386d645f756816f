import * as t from 'io-ts';
import { nullable } from '#shared/codecs/choice.ts';

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

/** Failed tries of calls with any result. */
const FailedTries = t.type({
  /** `provider/model`, or `_OTHER` if there were too many kinds. */
  target: t.string,
  /** The provider's code or the gateway's, or `_OTHER`. */
  errorType: t.string,
  tries: t.number,
});

/** The amounts that calls use. A new amount is named only here; `usage-recorder.ts` measures it. */
const amounts = {
  /** Calls with known tokens. The sums also cover what attempts had consumed when they broke. */
  callsWithTokens: t.number,
  inputTokens: t.number,
  outputTokens: t.number,
  /** Unicode characters of spoken texts. */
  characters: t.number,
  /** Seconds of transcribed audio, where providers reported its length. */
  audioSeconds: t.number,
};

const tokenParts = {
  /** The part of the input that providers read from their caches. */
  cachedInputTokens: nullable(t.number),
  /** The part of the input that providers wrote to their caches. */
  cacheWriteTokens: nullable(t.number),
  /** The part of the output that was reasoning. */
  reasoningTokens: nullable(t.number),
};

/** The usage of one key's calls to one target, by outcome. */
const Usage = t.type({
  keyId: t.string,
  /**
   * The key's tenant at the time of the calls, because the key may be gone when this is read. All three are null in
   * events of schema versions before 3.
   */
  organizationId: nullable(t.string),
  projectId: nullable(t.string),
  partnerId: nullable(t.string),
  operation: t.string,
  model: t.string,
  target: nullable(t.string),
  outcome: t.string,
  /** 0 in the sums of a target that only attempts used that broke before another target ended their calls. */
  calls: t.number,
  streamed: t.number,
  attempts: t.number,
  /** The failed attempts of these calls, at the target above and at earlier ones. */
  failedTries: t.readonlyArray(FailedTries),
  ...amounts,
  ...tokenParts,
  /** By the configured price, in its currency; null if no call has a price. */
  cost: nullable(t.number),
  headersMs: nullable(Latencies),
  firstContentMs: nullable(Latencies),
  /** The distribution of `calls` latencies. */
  totalMs: Latencies,
});

/** Metering streams of a day that a closing has counted. */
const ClosedStream = t.type({
  stream: t.string,
  /** Counted events, those of earlier closings included. */
  events: t.number,
  /** The id of the last counted event. A revision would not work, because a moved log numbers these streams from 0. */
  lastEvent: t.string,
  /**
   * SHA-256 in hex, from 64 zeros on: each step hashes the hash so far and the hash of the next event's line in an
   * archive.
   */
  hash: t.string,
});

/** The usage of a day and of all nodes. The events contain no prompt and no answer. */
export const usageEvents = {
  /** An event on `usage-{day of until}-{node}`, without a hash chain. It counts for the day and hour of `until`. */
  UsageRecorded: t.type({
    node: t.string,
    from: t.string,
    until: t.string,
    /** The accuracy of the sketches. */
    relativeAccuracy: t.number,
    /** The number of calls that were dropped because memory was full while events could not be stored. */
    callsLost: t.number,
    usage: t.readonlyArray(Usage),
  }),
  /**
   * The sums of a day, on `usageDay-{day}`, a stream with a chain: appended before the day's metering streams go into an
   * archive and are removed from the log. A large day has several such events.
   *
   * How a read model counts, so that its rows are the same with and without the metering streams:
   * - Each of its rows is of one key, model, target and operation, and of one hour or day (UTC), or is finer; it adds up
   *   outcomes in any form. Queries add up coarser rows.
   * - `UsageRecorded` adds to the rows of the hour and day in which its `until` lies (`hourOf`, `dayOf`).
   * - `UsageDayClosed` replaces: a row that it has entries of is set to their sum, whatever was counted before; other
   *   rows stay. All entries of one key, model and target on the day are in the same event.
   * - A `UsageRecorded` after it (a node that could not reach the store for a day and more) adds again. The next archive
   *   then appends a further `UsageDayClosed`, with the whole sums of the keys, models and targets that this changes.
   * - Rows that are finer than an hour and kept for two days at most may pass it over: no younger day is closed.
   */
  UsageDayClosed: t.type({
    /** `2026-01-05`, in UTC. */
    day: t.string,
    /** The number of this event among those of its closing, from 1 on, and how many they are. */
    part: t.number,
    parts: t.number,
    /** The accuracy of the sketches. */
    relativeAccuracy: t.number,
    /** The lost calls of the whole day, as in `UsageRecorded`: the same number in all parts. */
    callsLost: t.number,
    usage: t.readonlyArray(t.intersection([t.type({ hour: t.string }), Usage])),
    /** The counted streams. Only in the last part, because a closing without it is not complete. */
    streams: t.readonlyArray(ClosedStream),
  }),
};

/** The names in the order in which events and read models list them. */
export const amountNames = Object.keys(amounts) as ReadonlyArray<AmountName>;

export type AmountName = keyof typeof amounts;

export const tokenPartNames = Object.keys(tokenParts) as ReadonlyArray<TokenPartName>;

export type TokenPartName = keyof typeof tokenParts;
export type UsageEvents = { [Type in keyof typeof usageEvents]: t.TypeOf<(typeof usageEvents)[Type]> };
export type LatencyDistribution = t.TypeOf<typeof Latencies>;
export type FailedTriesEntry = t.TypeOf<typeof FailedTries>;
export type UsageEntry = t.TypeOf<typeof Usage>;
/** The entry of an hour. `hour` is its first moment, `2026-01-05T09:00:00.000Z`. */
export type HourlyUsageEntry = UsageEvents['UsageDayClosed']['usage'][number];
export type ClosedUsageStream = t.TypeOf<typeof ClosedStream>;

/** The day in UTC. @param until when the window of the usage ended, RFC 3339 in UTC */
export function dayOf(until: string): string {
  return until.slice(0, 10);
}

/** The first moment of the hour, in UTC. @param until when the window of the usage ended, RFC 3339 in UTC */
export function hourOf(until: string): string {
  return `${until.slice(0, 13)}:00:00.000Z`;
}
