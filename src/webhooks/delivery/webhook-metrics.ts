import { Counter, Gauge, type Registry } from 'prom-client';
import type { DeliveryError, DeliveryOutcome } from '#domain/webhook-endpoint/delivery.ts';
import type { EndpointQueue } from '#webhooks/delivery/queue/endpoint-queue.ts';

/** @param error null if the try did not fail */
export type CountTry = (outcome: DeliveryOutcome, error: DeliveryError | null) => void;

export function createTryCounter(registry: Registry): CountTry {
  const tries = new Counter({
    name: 'switchyard_webhook_tries_total',
    help: 'Tries of this node to deliver messages to webhook endpoints',
    labelNames: ['outcome', 'error_type'],
    registers: [registry],
  });
  return (outcome, error) => tries.inc({ outcome, error_type: error ?? '' });
}

export interface WatchedDeliveries {
  /** The figures; null while this node does not deliver. */
  readonly figures: () => DeliveryFigures | null;
  /** The end of the log; null if it cannot be read now. */
  readonly endOfLog: () => Promise<number | null>;
}

/** No endpoint is a label, because the number of endpoints has no limit. */
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

/** No try has failed since the last success, a try has failed, or nothing is sent. */
export const endpointStates = ['delivering', 'failing', 'disabled'] as const;

type EndpointState = (typeof endpointStates)[number];

export interface StateFigures {
  readonly endpoints: number;
  /** The lowest one; null without such an endpoint. */
  readonly position: number | null;
}

export interface DeliveryFigures {
  readonly byState: Readonly<Record<EndpointState, StateFigures>>;
  readonly openRetries: number;
}

type Queue = Pick<EndpointQueue<never>, 'isEnabled' | 'isFailing' | 'position' | 'openRetries'>;

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
