import * as t from 'io-ts';
import { enumeration, nullable } from '#shared/codecs/choice.ts';
import { integer } from '#shared/codecs/number.ts';

const count = integer(0, Number.MAX_SAFE_INTEGER);

/** No calls go to a target while its circuit is open. It is half-open after a pause, to try the target. */
const CircuitState = enumeration('CircuitState', 'closed', 'open', 'half-open');

/** A target with its recent health, as the answering node has observed it. */
export const TargetStatus = t.type(
  {
    /** `provider/model`. */
    target: t.string,
    provider: t.string,
    model: t.string,
    /** The tags of the catalogue, and voices, that it serves. */
    servesModels: t.readonlyArray(t.string),
    circuit: CircuitState,
    attempts: t.type({ served: count, refused: count, failed: count, abandoned: count }),
    successRate: nullable(t.number),
    p50Ms: nullable(t.number),
    p95Ms: nullable(t.number),
    lastFailure: nullable(
      t.type({ time: t.string, code: t.string, status: nullable(integer(100, 599)), requestId: t.string }),
    ),
    /** True if the provider has refused the key since the last served call, the new entry or the new key. */
    isKeyRefused: t.boolean,
  },
  'TargetStatus',
);

export type TargetStatus = t.TypeOf<typeof TargetStatus>;

/** The health of targets, as one node's gateway has observed it. Nodes do not share it. */
export const GatewayHealth = t.type(
  {
    node: t.string,
    /** The window of counts and latencies. */
    windowSeconds: t.number,
    targets: t.readonlyArray(TargetStatus),
    /** The changes since the start of the node, the newest first, 100 at most. */
    circuitChanges: t.readonlyArray(
      t.type({
        time: t.string,
        target: t.string,
        circuit: CircuitState,
        /** The code of the failure that opened it; null for another change. */
        code: nullable(t.string),
        status: nullable(t.number),
      }),
    ),
  },
  'GatewayHealth',
);

export type GatewayHealth = t.TypeOf<typeof GatewayHealth>;
