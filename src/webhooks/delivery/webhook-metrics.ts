import { Counter, Gauge, type Registry } from 'prom-client';
import type { DeliveryError, DeliveryOutcome } from '#domain/webhook-endpoint/delivery.ts';
import type { EndpointQueue } from '#webhooks/delivery/queue/endpoint-queue.ts';

/** Counts a try to deliver a message. @param error why it failed; null if it did not */
export type CountTry = (outcome: DeliveryOutcome, error: DeliveryError | null) => void;

/** Creates the counter of tries. */
export function createTryCounter(registry: Registry): CountTry {
  const tries = new Counter({
    name: 'switchyard_webhook_tries_total',
    help: 'Tries of this node to deliver messages to webhook endpoints',
    labelNames: ['outcome', 'error_type'],
    registers: [registry],
  });
  return (outcome, error) => tries.inc({ outcome, error_type: error ?? '' });
}

/** The sources of the gauges of deliveries. */
export interface WatchedDeliveries {
  /** Null while this node does not deliver. */
  readonly figures: () => DeliveryFigures | null;
  /** The end of the log; null if it cannot be read now. */
  readonly endOfLog: () => Promise<number | null>;
}

/** Creates the gauges of deliveries. No endpoint is a label, because the number of endpoints has no limit. */
export function watchDeliveries(registry: Registry, { figures, endOfLog }: WatchedDeliveries): void {
  new Gauge({
    name: 'switchyard_webhook_endpoints',
    help: 'Webhook endpoints that this node delivers to, by what becomes of messages',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.reset();
      const now = figures();
      if (now === null) return;
      for (const state of endpointStates) this.set({ state }, now.byState[state].endpoints);
    },
  });
  new Gauge({
    name: 'switchyard_webhook_open_retries',
    help: 'Messages to webhook endpoints whose tries have failed and that are tried again',
    registers: [registry],
    collect() {
      this.set(figures()?.openRetries ?? 0);
    },
  });
  new Gauge({
    name: 'switchyard_webhook_lag_positions',
    help: 'Positions between the end of the log and the endpoint that is furthest behind it',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const end = await endOfLog();
      this.reset();
      const now = figures();
      if (end === null || now === null) return;
      for (const state of ['delivering', 'failing'] as const)
        this.set({ state }, Math.max(0, end - (now.byState[state].position ?? end)));
    },
  });
}

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
