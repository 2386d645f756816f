import * as t from 'io-ts';
import { timestamp } from '#domain/codecs/time.ts';
import { GatewayHealth } from '#domain/usage/gateway-health.ts';
import { usageFigures } from '#queries/usage/shared/usage-figures.ts';
import { nullable, oneOf } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

const counts = t.readonlyArray(t.number);
/** Null where there was no call, or no price. */
const gapped = t.readonlyArray(nullable(t.number));

/** What calls of the gateway came to, by outcome. */
const gatewayFigures = {
  ...usageFigures,
  /** Calls that got no answer for a fault of providers or of the gateway. */
  failed: t.number,
  /** Calls whose answer ended in the middle. With `failed` these are the errors. */
  brokenOff: t.number,
  /** Calls refused by the caller's own fault. */
  refused: t.number,
  /** Calls whose client left. */
  clientGone: t.number,
  /** To the first content; null without any. */
  firstContentP50Ms: nullable(t.number),
  firstContentP95Ms: nullable(t.number),
  firstContentP99Ms: nullable(t.number),
};

export const GatewayFigures = t.type(gatewayFigures, 'GatewayFigures');
export type GatewayFigures = t.TypeOf<typeof GatewayFigures>;

/** By interval, one value for each of `times`. */
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

/** How long an interval of a series may be. */
export const Interval = oneOf('minute', 'quarter-hour', 'hour', 'day');
export type Interval = t.TypeOf<typeof Interval>;

/** `GET /v1/dashboard/gateway`. */
export const GatewayAnswer = t.type(
  {
    from: timestamp,
    until: timestamp,
    interval: Interval,
    /** The first moment of each interval, the oldest first; the last one may be running. */
    times: t.readonlyArray(timestamp),
    totals: GatewayFigures,
    series: GatewaySeries,
    /**
     * The same length of time before `from`, its `calls`, `errors` and `cost` by interval for a curve behind; null where
     * that is no longer kept.
     */
    previous: nullable(
      t.type({
        from: timestamp,
        totals: GatewayFigures,
        series: t.type({ calls: counts, errors: counts, cost: gapped }),
      }),
    ),
    /** `chat`, `speech`, `transcription`, as far as there were calls. */
    operations: t.readonlyArray(t.type({ operation: text(), calls: counts, total: t.number })),
    /** The coarser intervals by which models and targets are given: `calls` of theirs have one value for each of `times`. */
    breakdown: t.type({ interval: Interval, times: t.readonlyArray(timestamp) }),
    /** The models with the most calls first, 50 at most; empty where one model or one key is asked for. */
    models: t.readonlyArray(t.type({ model: text(), calls: counts, totals: GatewayFigures })),
    /** By target, the most calls first; null for any key but an operator's, and where the answer is not of all calls. */
    targets: nullable(t.readonlyArray(t.type({ target: text(), calls: counts, totals: GatewayFigures }))),
    /** Which targets answered a model's calls; null where `targets` is. */
    routes: nullable(t.readonlyArray(t.type({ model: text(), target: text(), calls: counts, total: t.number }))),
    /** Tries that failed, whatever became of their calls, the most first; null where `targets` is. */
    failedTries: nullable(
      t.readonlyArray(t.type({ model: text(), target: text(), errorType: text(), tries: t.number })),
    ),
    /** Targets as the answering node sees them; null for any key but an operator's, and where the node has no gateway. */
    health: nullable(GatewayHealth),
  },
  'DashboardGateway',
);

export type GatewayAnswer = t.TypeOf<typeof GatewayAnswer>;
