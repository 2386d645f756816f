import { Counter, Gauge, type Registry } from 'prom-client';
import type { DeliveryError, DeliveryOutcome } from '#domain/webhook-endpoint/delivery.ts';
import { type DeliveryFigures, endpointStates } from './delivery-figures.ts';

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
