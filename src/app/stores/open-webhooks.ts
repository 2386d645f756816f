import { join } from 'node:path';
import type { Config } from '#app/config.ts';
import type { WebhookReads } from '#application/webhooks/webhook-reads.ts';
import { createDnsResolver, createSystemResolver } from '#webhooks/guard/resolve-host.ts';
import { UrlGuard } from '#webhooks/guard/url-guard.ts';
import type { DeliveryLog } from '#webhooks/log/delivery-log.ts';
import { openSqliteDeliveryLog } from '#webhooks/log/sqlite/sqlite-delivery-log.ts';
import type { DeliveryStateStore } from '#webhooks/state/delivery-state-store.ts';
import { openSqliteDeliveryStateStore } from '#webhooks/state/sqlite/sqlite-delivery-state-store.ts';
import type { MongoDbAvailabilities } from './mongodb-availabilities.ts';

/** The stores of webhooks: the state of deliveries, and the delivery log. */
export interface WebhookStores {
  readonly guard: UrlGuard;
  readonly deliveries: DeliveryLog;
  /**
   * Opens the states of deliveries. Each call opens a separate store.
   * @param fence the fencing token of the lease, on shared stores
   */
  readonly openStates: (fence?: number) => DeliveryStateStore;
  readonly reads: WebhookReads;
}

/** The dependencies of the stores of webhooks. */
export interface WebhookStoreDependencies {
  readonly mongoDb: MongoDbAvailabilities;
  /** Collects everything that must be closed. */
  readonly opened: AsyncDisposableStack;
}

type WebhookStoreConfig = Pick<Config, 'readStore' | 'dataDir' | 'webhooks'>;

/** Opens the stores of webhooks. They are beside the read models, which all nodes share or one embeds. */
export async function openWebhookStores(
  { readStore, dataDir, webhooks: { allowsPrivateNetworks } }: WebhookStoreConfig,
  { mongoDb, opened }: WebhookStoreDependencies,
): Promise<WebhookStores> {
  const isEmbedded = readStore.kind === 'sqlite';
  const { deliveries, openStates } = await (isEmbedded ? embedded(dataDir) : shared(readStore.url, mongoDb));
  opened.defer(() => deliveries.close());
  const states = openStates();
  opened.defer(() => states.close());
  const resolve = allowsPrivateNetworks ? createSystemResolver() : createDnsResolver();
  return {
    guard: new UrlGuard({ allowsPrivateNetworks, resolve }),
    deliveries,
    openStates,
    reads: {
      deliveryOf: async (id) => deliveryOf(await states.peek(id)),
      deliveriesTo: (...page) => deliveries.page(...page),
    },
  };
}

async function embedded(dataDir: string): Promise<Pick<WebhookStores, 'deliveries' | 'openStates'>> {
  return {
    deliveries: openSqliteDeliveryLog(join(dataDir, 'webhook-deliveries.db')),
    openStates: () => openSqliteDeliveryStateStore(join(dataDir, 'processes.db')),
  };
}

async function shared(
  url: string,
  mongoDb: MongoDbAvailabilities,
): Promise<Pick<WebhookStores, 'deliveries' | 'openStates'>> {
  const [{ openMongoDbDeliveryLog }, { openMongoDbDeliveryStateStore }] = await Promise.all([
    import('#webhooks/log/mongodb/mongodb-delivery-log.ts'),
    import('#webhooks/state/mongodb/mongodb-delivery-state-store.ts'),
  ]);
  const availability = await mongoDb.at(url, 'READ_STORE_URL');
  return {
    deliveries: openMongoDbDeliveryLog({ url, availability }),
    openStates: (fence = 0) => openMongoDbDeliveryStateStore({ url, availability, fence }),
  };
}

function deliveryOf(state: Awaited<ReturnType<DeliveryStateStore['peek']>>) {
  if (state === null) return null;
  const { position, open, failingSince, beganAtEndAt } = state;
  const since = failingSince === null ? null : new Date(failingSince).toISOString();
  return { position, openMessages: open.length, failingSince: since, beganAtEndAt };
}
