import { readEndOfLog } from '#app/progress.ts';
import type { Runtime } from '#app/runtime.ts';
import type { Lookup } from '#application/commands/command.ts';
import { MessageDelivery } from '#webhooks/delivery/message-delivery.ts';
import { createTryCounter, watchDeliveries } from '#webhooks/delivery/webhook-metrics.ts';
import { WebhookRunner } from '#webhooks/delivery/webhook-runner.ts';
import { WebhookSender } from '#webhooks/delivery/webhook-sender.ts';
import { runOnOneNode } from './run-on-one-node.ts';

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

export function createRequestSender({ config, webhooks }: Runtime): RequestSender {
  return new WebhookSender({ guard: webhooks.guard, timeoutMs: config.webhooks.timeoutMs });
}

function createRunner(
  { admission, events, history, personalData, webhooks, metrics, log, ...others }: Runtime,
  sender: RequestSender,
): WebhookRunner {
  const reads = { history, personalReader: personalData.readerOf.bind(personalData) };
  return new WebhookRunner({
    ...others,
    log,
    store: events,
    endAtStart: events.lastPosition().catch(() => null),
    deliveries: webhooks.deliveries,
    countTry: createTryCounter(metrics.registry),
    statesFor: webhooks.statesFor,
    delivery: new MessageDelivery({ admission, reads, sender, log }),
  });
}
