import * as t from 'io-ts';
import { enumeration, nullable } from '#shared/codecs/choice.ts';
import { integer } from '#shared/codecs/number.ts';

const count = integer(0, Number.MAX_SAFE_INTEGER);

/** Whether calls go to a target: not while its circuit is open, and half-open after a pause, to try it. */
const CircuitState = enumeration('CircuitState', 'closed', 'open', 'half-open');

/** A target of the gateway and its recent health, as the answering node sees it. */
export const TargetStatus = t.type(
  {
    /** `provider/model`. */
    target: t.string,
    provider: t.string,
    model: t.string,
    /** The tags of the catalogue, and the voices, that it serves. */
    servesModels: t.readonlyArray(t.string),
    circuit: CircuitState,
    attempts: t.type({ served: count, refused: count, failed: count, abandoned: count }),
    successRate: nullable(t.number),
    p50Ms: nullable(t.number),
    p95Ms: nullable(t.number),
    lastFailure: nullable(
      t.type({ time: t.string, code: t.string, status: nullable(integer(100, 599)), requestId: t.string }),
    ),
    /** Whether the provider has refused the gateway's key since the last served call, its new entry or its new key. */
    isKeyRefused: t.boolean,
  },
  'TargetStatus',
);

/** The health of targets as one node's gateway sees it. Nodes do not share it. */
export const GatewayHealth = t.type(
  {
    node: t.string,
    /** How far back counts and latencies go. */
    windowSeconds: t.number,
    targets: t.readonlyArray(TargetStatus),
    /** The last changes of circuits since the start of the node, the newest first, 100 at most. */
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
