import { Counter, type Registry } from 'prom-client';
import type { DeliveryError, DeliveryOutcome } from '#domain/webhook-endpoint/delivery.ts';

/** Counts a try to deliver a message. @param error why it failed; null where it did not */
export type CountTry = (outcome: DeliveryOutcome, error: DeliveryError | null) => void;

/** Makes the counter of tries. */
export function createTryCounter(registry: Registry): CountTry {
  const tries = new Counter({
    name: 'switchyard_webhook_tries_total',
    help: 'Tries of this node to deliver messages to webhook endpoints',
    labelNames: ['outcome', 'error_type'],
    registers: [registry],
  });
  return (outcome, error) => tries.inc({ outcome, error_type: error ?? '' });
}
