import type { Collection, Filter } from 'mongodb';
import type { DeliveryPage } from '#application/webhooks/webhook-reads.ts';
import type { WebhookDelivery } from '#domain/webhook-endpoint/delivery.ts';
import { MongoDbConnection, type MongoDbConnectionOptions } from '#mongodb/mongodb-connection.ts';
import { areDuplicates } from '#mongodb/mongodb-failure.ts';
import type { DeliveryLog } from './delivery-log.ts';

const collectionName = 'webhookDeliveries';

interface TryRecord {
  readonly _id: string;
  readonly endpoint: string;
  /** In ms since 1970. */
  readonly at: number;
  /** JSON of the listed members. */
  readonly body: string;
}

/** Opens the log of deliveries on MongoDB, which all nodes share. */
export function openMongoDbDeliveryLog(options: MongoDbConnectionOptions): DeliveryLog {
  const connection = new MongoDbConnection(options);
  let indexed: Promise<unknown> | null = null;
  const tries = <Result>(work: (tries: Collection<TryRecord>) => Promise<Result>) =>
    connection.call((database) => work(database.collection(collectionName)));
  const ensureIndexes = async (): Promise<void> => {
    indexed ??= tries(async (all) => {
      await all.createIndex({ endpoint: 1, at: 1, _id: 1 });
      await all.createIndex({ at: 1 });
    });
    try {
      await indexed;
    } catch (error) {
      indexed = null;
      throw error;
    }
  };
  return {
    add: async (added) => {
      await ensureIndexes();
      const records = added.map(({ endpointId: endpoint, id: _id, ...delivery }) => {
        return { _id, endpoint, at: Date.parse(delivery.time), body: JSON.stringify(delivery) };
      });
      if (records.length > 0) await tries((all) => insert(all, records));
    },
    page: async (endpoint, limit, after): Promise<DeliveryPage> => {
      const before: Filter<TryRecord> =
        after === null ? {} : { $or: [{ at: { $lt: after.order } }, { at: after.order, _id: { $lt: after.id } }] };
      const found = await tries((all) =>
        all
          .find({ endpoint, ...before })
          .sort({ at: -1, _id: -1 })
          .limit(limit + 1)
          .toArray(),
      );
      const deliveries = found.slice(0, limit).map(({ body }) => JSON.parse(body) as WebhookDelivery);
      const last = found[limit - 1];
      const isEnd = found.length <= limit || last === undefined;
      return { deliveries, next: isEnd ? null : { order: last.at, id: last._id } };
    },
    removeBefore: async (time) => {
      await tries((all) => all.deleteMany({ at: { $lt: Date.parse(time) } }));
      return false;
    },
    close: () => connection.close(),
  };
}

/** Inserts records. Those that are stored already fail one by one and are ignored. */
async function insert(all: Collection<TryRecord>, records: TryRecord[]): Promise<void> {
  try {
    await all.insertMany(records, { ordered: false });
  } catch (error) {
    if (!areDuplicates(error)) throw error;
  }
}
