import type { EndpointQueue } from './queue/endpoint-queue.ts';

/** The states of endpoints: no try has failed since the last success, a try has failed, or nothing is sent. */
export const endpointStates = ['delivering', 'failing', 'disabled'] as const;

type EndpointState = (typeof endpointStates)[number];

/** The endpoints in one state. */
export interface StateFigures {
  readonly endpoints: number;
  /** The lowest position among them; null if there is no such endpoint. */
  readonly position: number | null;
}

/** The progress of a node's deliveries. */
export interface DeliveryFigures {
  readonly byState: Readonly<Record<EndpointState, StateFigures>>;
  /** The number of messages that failed and are retried. */
  readonly openRetries: number;
}

type Queue = Pick<EndpointQueue<never>, 'isEnabled' | 'isFailing' | 'position' | 'openRetries'>;

/** Sums up the queues of a node. */
export function deliveryFigures(queues: Iterable<Queue>): DeliveryFigures {
  const none: StateFigures = { endpoints: 0, position: null };
  const byState = { delivering: none, failing: none, disabled: none };
  let openRetries = 0;
  for (const queue of queues) {
    const state = stateOf(queue);
    const { endpoints, position } = byState[state];
    byState[state] = {
      endpoints: endpoints + 1,
      position: Math.min(position ?? Number.POSITIVE_INFINITY, queue.position),
    };
    openRetries += queue.openRetries;
  }
  return { byState, openRetries };
}

function stateOf({ isEnabled, isFailing }: Queue): EndpointState {
  if (!isEnabled) return 'disabled';
  return isFailing ? 'failing' : 'delivering';
}
