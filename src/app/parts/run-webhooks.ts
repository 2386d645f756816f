import { readEndOfLog } from '#app/progress.ts';
import type { Runtime } from '#app/runtime.ts';
import type { Lookup } from '#application/commands/command.ts';
import { FairSlots } from '#shared/async/fair-queue.ts';
import { MessageDelivery } from '#webhooks/delivery/message-delivery.ts';
import { createTryCounter, watchDeliveries } from '#webhooks/delivery/webhook-metrics.ts';
import { WebhookRunner } from '#webhooks/delivery/webhook-runner.ts';
import { WebhookSender } from '#webhooks/delivery/webhook-sender.ts';
import { runOnOneNode } from './run-on-one-node.ts';

/**
 * The most attempts of this node at once. Further ones wait; owners of endpoints get free ones in turn. A dead endpoint
 * uses one of them, a living one up to eight.
 */
const maxTriesAtOnce = 4_096;
/** The most attempts of the endpoints of one owner at once. */
const maxTriesOfOwner = 256;

/** What sends requests to receivers. */
export type RequestSender = Pick<WebhookSender, 'send' | 'close'>;

/** Delivers webhooks if this node may. @returns the tries of an endpoint; null if this node does not deliver to it */
export function runWebhooks(
  runtime: Runtime,
  createSender: (runtime: Runtime) => RequestSender,
): Lookup['webhookTries'] {
  const { config, opened } = runtime;
  if (!config.roles.has('projections')) return () => null;
  const sender = createSender(runtime);
  const runner = createRunner(runtime, sender);
  watchDeliveries(runtime.metrics.registry, {
    figures: () => runner.figures(),
    endOfLog: () => readEndOfLog(runtime.events),
  });
  // It is closed after the runner, which opens later.
  opened.defer(() => sender.close());
  runOnOneNode(runtime, {
    name: 'webhooks',
    failureMessage: 'The delivery of webhooks has failed and is started again',
    work: (term) => runner.run(term),
  });
  return (endpointId) => runner.triesOf(endpointId);
}

/** Creates what sends requests over the network. */
export function createRequestSender({ config, webhooks }: Runtime): RequestSender {
  return new WebhookSender({ guard: webhooks.guard, timeoutMs: config.webhooks.timeoutMs });
}

function createRunner(
  { events, history, personalData, webhooks, metrics, log, ...others }: Runtime,
  sender: RequestSender,
): WebhookRunner {
  const reads = { history, personalReader: personalData.readerOf.bind(personalData) };
  const slots = new FairSlots({ maxSlots: maxTriesAtOnce, maxSlotsOfOwner: maxTriesOfOwner });
  return new WebhookRunner({
    ...others,
    log,
    store: events,
    endAtStart: events.lastPosition().catch(() => null),
    deliveries: webhooks.deliveries,
    countTry: createTryCounter(metrics.registry),
    statesFor: webhooks.statesFor,
    delivery: new MessageDelivery({ reads, sender, slots, log }),
  });
}
