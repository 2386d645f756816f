import type { Config } from '#app/config.ts';
import type { WebhookReads } from '#application/webhooks/webhook-reads.ts';
import type { RecordStore } from '#records/record-store.ts';
import type { DeliveryLog } from '#webhooks/delivery-log.ts';
import { DeliveryStateStore } from '#webhooks/state/delivery-state-store.ts';
import { createDnsResolver, createSystemResolver, UrlGuard } from '#webhooks/url-guard.ts';
import { openDeliveryLog, type SmallStoresPlace } from './small-stores.ts';

/** The state of deliveries, and the delivery log. */
export interface WebhookStores {
  readonly guard: UrlGuard;
  readonly deliveries: DeliveryLog;
  /** Opens the states of deliveries for the fencing token of a lease. */
  readonly statesFor: (fence: number) => DeliveryStateStore;
  readonly reads: WebhookReads;
}

export interface WebhookStoreDependencies {
  readonly records: RecordStore;
  readonly place: SmallStoresPlace;
  readonly opened: AsyncDisposableStack;
}

/** @throws StartupError */
export async function openWebhookStores(
  { webhooks: { allowsPrivateNetworks } }: Pick<Config, 'webhooks'>,
  { records, place, opened }: WebhookStoreDependencies,
): Promise<WebhookStores> {
  const deliveries = await openDeliveryLog(place);
  opened.defer(() => deliveries.close());
  const resolve = allowsPrivateNetworks ? createSystemResolver() : createDnsResolver();
  return buildWebhookStores(records, deliveries, new UrlGuard({ allowsPrivateNetworks, resolve }));
}

export function buildWebhookStores(records: RecordStore, deliveries: DeliveryLog, guard: UrlGuard): WebhookStores {
  const states = new DeliveryStateStore(records);
  return {
    guard,
    deliveries,
    statesFor: (fence) => new DeliveryStateStore(records, fence),
    reads: {
      deliveryOf: async (id) => deliveryOf(await states.peek(id)),
      deliveriesTo: (...page) => deliveries.page(...page),
    },
  };
}

function deliveryOf(state: Awaited<ReturnType<DeliveryStateStore['peek']>>) {
  if (state === null) return null;
  const { position, open, failingSince, beganAtEndAt } = state;
  const since = failingSince === null ? null : new Date(failingSince).toISOString();
  return { position, openMessages: open.length, failingSince: since, beganAtEndAt };
}
