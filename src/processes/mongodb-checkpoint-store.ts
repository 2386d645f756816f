import { Long } from 'mongodb';
import { MongoDbConnection, type MongoDbConnectionOptions } from '#src/mongodb/mongodb-connection.ts';
import { Superseded } from '#src/superseded.ts';
import type { CheckpointStore } from './checkpoint-store.ts';

const checkpointsName = 'processCheckpoints';

interface CheckpointRecord<Position = Long> {
  /** The process's name. */
  readonly _id: string;
  readonly position: Position;
  /** The newest fencing token that was seen. */
  readonly fence: Position;
}

export interface MongoDbCheckpointStoreOptions extends MongoDbConnectionOptions {
  /** The token of the lease under which the processes run. Default 0: no other node runs any. */
  readonly fence?: number;
}

/**
 * Checkpoints on MongoDB, which nodes share. They never go back. Reading one tells that this node runs the process now:
 * from then on a node with an older token is refused with `Superseded`.
 */
export function openMongoDbCheckpointStore({ fence = 0, ...options }: MongoDbCheckpointStoreOptions): CheckpointStore {
  const connection = new MongoDbConnection(options);
  const token = Long.fromNumber(fence);
  const reach = async (process: string, position: number): Promise<void> => {
    const { matchedCount } = await connection.call((database) =>
      database
        .collection<CheckpointRecord>(checkpointsName)
        .updateOne(
          { _id: process, fence: { $lte: token } },
          { $max: { position: Long.fromNumber(position) }, $set: { fence: token } },
        ),
    );
    if (matchedCount === 0) throw new Superseded(`The process ${process} is run by another node now.`);
  };
  return {
    read: async (process) => {
      await connection.call((database) =>
        database
          .collection<CheckpointRecord>(checkpointsName)
          .updateOne(
            { _id: process },
            { $setOnInsert: { position: Long.fromNumber(0), fence: token } },
            { upsert: true },
          ),
      );
      await reach(process, 0);
      const record = await connection.call((database) =>
        database.collection<CheckpointRecord<number>>(checkpointsName).findOne({ _id: process }),
      );
      return record?.position ?? 0;
    },
    write: reach,
    close: () => connection.close(),
  };
}
