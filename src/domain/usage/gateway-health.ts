import * as t from 'io-ts';
import { nullable, oneOf } from '#shared/codecs/choice.ts';
import { TargetStatus } from './target-status.ts';

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
        circuit: oneOf('closed', 'open', 'half-open'),
        /** The code of the failure that opened it; null for another change. */
        code: nullable(t.string),
        status: nullable(t.number),
      }),
    ),
  },
  'GatewayHealth',
);

export type GatewayHealth = t.TypeOf<typeof GatewayHealth>;
