import { type AnyBulkWriteOperation, type Collection, Long } from 'mongodb';
import { isDuplicateKey } from '#mongodb/duplicate-key.ts';
import { MongoDbConnection, type MongoDbConnectionOptions } from '#mongodb/mongodb-connection.ts';
import { areDuplicates } from '#mongodb/mongodb-failure.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import type { DeliveryState } from '#webhooks/state/delivery-state.ts';
import type { DeliveryStateStore } from '#webhooks/state/delivery-state-store.ts';
import { followedKey, readState } from '#webhooks/state/stored-state.ts';

const collectionName = 'webhookDeliveryStates';

interface StateRecord {
  /** The endpoint's id. */
  readonly _id: string;
  readonly log: string;
  /** JSON, because a stream's name may contain characters that are operators for MongoDB. */
  readonly state: string;
  /** The newest fencing token that wrote the document. */
  readonly fence: Long;
}

export interface MongoDbDeliveryStateStoreOptions extends MongoDbConnectionOptions {
  /** The token of the lease under which this node delivers. Default 0, for a single node. */
  readonly fence?: number;
}

/**
 * Opens the store of delivery states on MongoDB, which all nodes share. `acquire` writes this node's token to every
 * document. From then on, a node with an older token gets `FencedError`.
 */
export function openMongoDbDeliveryStateStore({
  fence = 0,
  ...options
}: MongoDbDeliveryStateStoreOptions): DeliveryStateStore {
  const connection = new MongoDbConnection(options);
  const token = Long.fromNumber(fence);
  const notNewer = { fence: { $lte: token } };
  const records = <Result>(work: (records: Collection<StateRecord>) => Promise<Result>) =>
    connection.call((database) => work(database.collection(collectionName)));
  const upsert = (_id: string, log: string, state: string): AnyBulkWriteOperation<StateRecord> => ({
    updateOne: { filter: { _id, ...notNewer }, update: { $set: { log, state, fence: token } }, upsert: true },
  });
  const fenced = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      // The filter did not match because the document has a newer token. The upsert then met the existing id.
      if (isDuplicateKey(error) || areDuplicates(error)) throw supersededError();
      throw error;
    }
  };
  const writeSome = (updates: AnyBulkWriteOperation<StateRecord>[]) =>
    connection.call(async (database) => {
      const collection = database.collection<StateRecord>(collectionName);
      await fenced(() => collection.bulkWrite(updates, { ordered: false }));
    });
  return {
    acquire: async (log) => {
      await writeSome([
        { updateOne: { filter: { _id: followedKey, ...notNewer }, update: { $set: { fence: token } }, upsert: true } },
      ]);
      await records((all) => all.updateMany(notNewer, { $set: { fence: token } }));
      const states = new Map<string, DeliveryState>();
      let followed: number | null = null;
      for (const { _id, state } of await records((all) => all.find({ log }).toArray())) {
        if (_id === followedKey) followed = Number(state);
        else {
          const read = readState(state);
          if (read !== null) states.set(_id, read);
        }
      }
      return { followed, states };
    },
    write: async (log, states, followed) => {
      const updates = [...states].map(([id, state]) => upsert(id, log, JSON.stringify(state)));
      const size = await connection.maxUpdates();
      for (let from = 0; from < updates.length; from += size) await writeSome(updates.slice(from, from + size));
      await writeSome([upsert(followedKey, log, String(followed))]);
    },
    remove: async (endpointIds) => {
      await records((all) => all.deleteMany({ _id: { $in: [...endpointIds] }, ...notNewer }));
    },
    peek: async (endpointId) => {
      const record = await records((all) => all.findOne({ _id: endpointId }));
      return record === null ? null : readState(record.state);
    },
    close: () => connection.close(),
  };
}

function supersededError(): FencedError {
  return new FencedError('Another node delivers webhooks now.');
}
