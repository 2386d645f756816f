import * as t from 'io-ts';
import { enumeration, nullable } from '#shared/codecs/choice.ts';
import { integer } from '#shared/codecs/number.ts';

const count = integer(0, Number.MAX_SAFE_INTEGER);

/** No calls go to a target while its circuit is open. It is half-open after a pause, to try the target. */
const CircuitState = enumeration('CircuitState', 'closed', 'open', 'half-open');

/** With its recent health, as the answering node has observed it. */
export const TargetStatus = t.type(
  {
    /** `provider/model`. */
    target: t.string,
    provider: t.string,
    model: t.string,
    /** Tags of the catalogue, and voices. */
    servesModels: t.readonlyArray(t.string),
    circuit: CircuitState,
    attempts: t.type({ served: count, refused: count, failed: count, abandoned: count }),
    successRate: nullable(t.number),
    p50Ms: nullable(t.number),
    p95Ms: nullable(t.number),
    lastFailure: nullable(
      t.type({ time: t.string, code: t.string, status: nullable(integer(100, 599)), requestId: t.string }),
    ),
    /** By the provider, since the last served call, the new entry or the new key. */
    isKeyRefused: t.boolean,
  },
  'TargetStatus',
);

export type TargetStatus = t.TypeOf<typeof TargetStatus>;

/** As one node's gateway has observed it. Nodes do not share it. */
export const GatewayHealth = t.type(
  {
    node: t.string,
    /** For counts and latencies. */
    windowSeconds: t.number,
    targets: t.readonlyArray(TargetStatus),
    /** Since the start of the node, the newest first, 100 at most. */
    circuitChanges: t.readonlyArray(
      t.type({
        time: t.string,
        target: t.string,
        circuit: CircuitState,
        /** Of the failure that opened it; null for another change. */
        code: nullable(t.string),
        status: nullable(t.number),
      }),
    ),
  },
  'GatewayHealth',
);

export type GatewayHealth = t.TypeOf<typeof GatewayHealth>;
