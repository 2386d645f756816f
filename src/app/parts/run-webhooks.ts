import type { Config } from '#app/config.ts';
import { readEndOfLog } from '#app/progress.ts';
import type { WebhookStores } from '#app/stores/open-webhooks.ts';
import type { EarlierWork } from '#app/stores/take-over/earlier-work.ts';
import type { Lookup } from '#application/commands/command.ts';
import type { StreamHistory } from '#application/history/stream-history.ts';
import type { StreamWriter } from '#application/streams/stream-writer.ts';
import type { EventStore } from '#event-store/event-store.ts';
import type { LogTail } from '#event-store/log-tail.ts';
import type { Metrics } from '#http/routes/metrics.ts';
import type { Leases } from '#leases/leases.ts';
import { onOneNode } from '#leases/on-one-node.ts';
import type { PersonalData } from '#personal-data/personal-data.ts';
import type { Positions } from '#positions/positions.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { FairSlots } from '#shared/async/fair-queue.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { MessageDelivery } from '#webhooks/delivery/message-delivery.ts';
import { systemClock } from '#webhooks/delivery/queue/endpoint-queue.ts';
import { createTryCounter, watchDeliveries } from '#webhooks/delivery/webhook-metrics.ts';
import { WebhookRunner } from '#webhooks/delivery/webhook-runner.ts';
import { WebhookSender } from '#webhooks/delivery/webhook-sender.ts';

/** The dependencies of webhooks. */
export interface WebhookDependencies {
  readonly events: EventStore;
  readonly tail: LogTail;
  readonly writer: StreamWriter;
  readonly documents: ReadStore;
  readonly history: StreamHistory;
  readonly personalData: PersonalData;
  readonly webhooks: WebhookStores;
  readonly positions: Positions;
  /** Null if this process is the only one. */
  readonly leases: Leases | null;
  /** The work of nodes of the release before; null if this process is the only one. */
  readonly earlier: EarlierWork | null;
  /** This node's name. */
  readonly node: string;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'registry'>;
  /** Collects everything that must be stopped. */
  readonly opened: AsyncDisposableStack;
}

const lease = 'webhooks';
/**
 * The most attempts of this node at once. Further ones wait; owners of endpoints get free ones in turn. A dead endpoint
 * uses one of them, a living one up to eight.
 */
const maxTriesAtOnce = 4_096;
/** The most attempts of the endpoints of one owner at once. */
const maxTriesOfOwner = 256;

/** Delivers webhooks if this node may. @returns the tries of an endpoint; null if this node does not deliver to it */
export function runWebhooks(
  { roles, webhooks }: Pick<Config, 'roles' | 'webhooks'>,
  dependencies: WebhookDependencies,
): Lookup['webhookTries'] {
  if (!roles.has('projections')) return () => null;
  const { leases, node, log, opened } = dependencies;
  const stopping = new AbortController();
  const sender = new WebhookSender({ guard: dependencies.webhooks.guard, timeoutMs: webhooks.timeoutMs });
  const runner = createRunner(dependencies, sender);
  watchDeliveries(dependencies.metrics.registry, {
    figures: () => runner.figures(),
    endOfLog: () => readEndOfLog(dependencies.events),
  });
  const running = onOneNode({
    ...{ name: lease, leases, node, log, signal: stopping.signal },
    failureMessage: 'The delivery of webhooks has failed and is started again',
    work: (token, signal, isHeld) => runner.run({ token, signal, isHeld }),
  });
  opened.defer(async () => {
    stopping.abort();
    await running;
    await sender.close();
  });
  return (endpointId) => runner.triesOf(endpointId);
}

function createRunner(
  { events, history, personalData, webhooks, metrics, earlier, log, ...dependencies }: WebhookDependencies,
  sender: WebhookSender,
): WebhookRunner {
  const reads = { history, personalReader: personalData.readerOf.bind(personalData) };
  const slots = new FairSlots({ maxSlots: maxTriesAtOnce, maxSlotsOfOwner: maxTriesOfOwner });
  return new WebhookRunner({
    ...dependencies,
    log,
    store: events,
    endAtStart: events.lastPosition().catch(() => null),
    beforeTerm: async (held) => earlier?.takeOver(held),
    deliveries: webhooks.deliveries,
    countTry: createTryCounter(metrics.registry),
    statesFor: webhooks.statesFor,
    delivery: new MessageDelivery({ reads, sender, slots, log }),
    clock: systemClock,
  });
}
