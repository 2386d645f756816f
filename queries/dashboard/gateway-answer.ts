import * as t from 'io-ts';
import { timestamp } from '#domain/codecs/time.ts';
import { GatewayHealth } from '#domain/usage/gateway-health.ts';
import { usageFigures } from '#queries/usage/usage-answer.ts';
import { enumeration, nullable } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

const counts = t.readonlyArray(t.number);
/** Null where there was no call or no price. */
const gapped = t.readonlyArray(nullable(t.number));

const gatewayFigures = {
  ...usageFigures,
  /** Calls without an answer because of a failure of providers or of the gateway. */
  failed: t.number,
  /** Calls whose answer ended in the middle. With `failed` these are the errors. */
  brokenOff: t.number,
  /** Calls that were refused because of the caller. */
  refused: t.number,
  /** Calls whose client disconnected. */
  clientGone: t.number,
  /** The time to the first content. */
  firstContentP50Ms: nullable(t.number),
  firstContentP95Ms: nullable(t.number),
  firstContentP99Ms: nullable(t.number),
};

export const GatewayFigures = t.type(gatewayFigures, 'GatewayFigures');
export type GatewayFigures = t.TypeOf<typeof GatewayFigures>;

/** Figures by interval: one value for each of `times`. */
const GatewaySeries = t.type(
  {
    calls: counts,
    errors: counts,
    failed: counts,
    brokenOff: counts,
    refused: counts,
    clientGone: counts,
    inputTokens: counts,
    outputTokens: counts,
    cost: gapped,
    p50Ms: gapped,
    p95Ms: gapped,
    p99Ms: gapped,
    firstContentP50Ms: gapped,
    firstContentP95Ms: gapped,
    firstContentP99Ms: gapped,
  },
  'GatewaySeries',
);
export type GatewaySeries = t.TypeOf<typeof GatewaySeries>;

export const UsageInterval = enumeration('UsageInterval', 'minute', 'quarter-hour', 'hour', 'day');
export type UsageInterval = t.TypeOf<typeof UsageInterval>;

export const GatewayAnswer = t.type(
  {
    from: timestamp,
    until: timestamp,
    interval: UsageInterval,
    /** The beginnings of the intervals, oldest first. The last interval may not be complete. */
    times: t.readonlyArray(timestamp),
    totals: GatewayFigures,
    series: GatewaySeries,
    /**
     * The same length of time before `from`, with `calls`, `errors` and `cost` by interval for a curve in the
     * background; null if that time is no longer kept.
     */
    previous: nullable(
      t.type({
        from: timestamp,
        totals: GatewayFigures,
        series: t.type({ calls: counts, errors: counts, cost: gapped }),
      }),
    ),
    /** `chat`, `speech`, `transcription`, if there were such calls. */
    operations: t.readonlyArray(t.type({ operation: text(), calls: counts, total: t.number })),
    /** The coarser intervals of models and targets: their `calls` have one value for each of these `times`. */
    breakdown: t.type({ interval: UsageInterval, times: t.readonlyArray(timestamp) }),
    /** At most 50 models, most calls first; empty if the request names a model or a key. */
    models: t.readonlyArray(t.type({ model: text(), calls: counts, totals: GatewayFigures })),
    /** By target, most calls first; null if the key is not an operator's or the answer does not cover all calls. */
    targets: nullable(t.readonlyArray(t.type({ target: text(), calls: counts, totals: GatewayFigures }))),
    /** The targets that answered a model's calls; null if `targets` is. */
    routes: nullable(t.readonlyArray(t.type({ model: text(), target: text(), calls: counts, total: t.number }))),
    /** Failed tries, also of calls that then succeeded, most tries first; null if `targets` is. */
    failedTries: nullable(
      t.readonlyArray(t.type({ model: text(), target: text(), errorType: text(), tries: t.number })),
    ),
    /** Targets as the answering node sees them; null if the key is not an operator's or the node has no gateway. */
    health: nullable(GatewayHealth),
  },
  'DashboardGateway',
);

export type GatewayAnswer = t.TypeOf<typeof GatewayAnswer>;

const totals = {
  calls: 30,
  callsWithTokens: 28,
  errors: 1,
  inputTokens: 4200,
  outputTokens: 1900,
  cachedInputTokens: 1024,
  cacheWriteTokens: null,
  reasoningTokens: 320,
  characters: 0,
  audioSeconds: 0,
  cost: 0.0236,
  p50Ms: 1890.2,
  p95Ms: 5104.7,
  p99Ms: 8612.9,
  failed: 1,
  brokenOff: 0,
  refused: 2,
  clientGone: 0,
  firstContentP50Ms: 420.1,
  firstContentP95Ms: 850.4,
  firstContentP99Ms: 1900.6,
};

/** An answer for two quarters of an hour, as a partner's key gets it. */
export const gatewayExample: GatewayAnswer = {
  from: '2026-01-05T09:00:00.000Z',
  until: '2026-01-05T09:30:00.000Z',
  interval: 'quarter-hour',
  times: ['2026-01-05T09:00:00.000Z', '2026-01-05T09:15:00.000Z'],
  totals,
  series: {
    calls: [30, 0],
    errors: [1, 0],
    cost: [0.0236, null],
    failed: [1, 0],
    brokenOff: [0, 0],
    refused: [2, 0],
    clientGone: [0, 0],
    inputTokens: [4200, 0],
    outputTokens: [1900, 0],
    p50Ms: [1890.2, null],
    p95Ms: [5104.7, null],
    p99Ms: [8612.9, null],
    firstContentP50Ms: [420.1, null],
    firstContentP95Ms: [850.4, null],
    firstContentP99Ms: [1900.6, null],
  },
  previous: null,
  operations: [{ operation: 'chat', calls: [30, 0], total: 30 }],
  breakdown: { interval: 'hour', times: ['2026-01-05T09:00:00.000Z'] },
  models: [{ model: 'gpt-large', calls: [30], totals }],
  targets: null,
  routes: null,
  failedTries: null,
  health: null,
};
