import type { DeliveryPage } from '#application/webhooks/webhook-reads.ts';
import type { WebhookDelivery } from '#domain/webhook-endpoint/delivery.ts';
import { before, LogCollection, type LogDocument, newestFirst } from '#mongodb/log-collection.ts';
import type { MongoDbConnectionOptions } from '#mongodb/mongodb-connection.ts';
import type { DeliveryLog } from './delivery-log.ts';

interface TryRecord extends LogDocument {
  readonly endpoint: string;
  /** The listed members as JSON. */
  readonly body: string;
}

export function openMongoDbDeliveryLog(options: MongoDbConnectionOptions): DeliveryLog {
  const tries = new LogCollection<TryRecord>(options, 'webhookDeliveries', [{ endpoint: 1, at: 1, _id: 1 }, { at: 1 }]);
  return {
    add: (added) =>
      tries.insert(
        added.map(({ endpointId: endpoint, id: _id, ...delivery }) => {
          return { _id, endpoint, at: Date.parse(delivery.time), body: JSON.stringify(delivery) };
        }),
      ),
    page: async (endpoint, limit, after): Promise<DeliveryPage> => {
      const filter = { endpoint, ...(after === null ? {} : before<TryRecord>(after)) };
      const found = await tries.call((all) =>
        all
          .find(filter)
          .sort(newestFirst)
          .limit(limit + 1)
          .toArray(),
      );
      const deliveries = found.slice(0, limit).map(({ body }) => JSON.parse(body) as WebhookDelivery);
      const last = found[limit - 1];
      const isEnd = found.length <= limit || last === undefined;
      return { deliveries, next: isEnd ? null : { order: last.at, id: last._id } };
    },
    removeBefore: async (time) => {
      await tries.removeBefore(time);
      return false;
    },
    close: () => tries.close(),
  };
}
