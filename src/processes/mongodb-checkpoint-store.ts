import { type Collection, Long } from 'mongodb';
import { MongoDbConnection, type MongoDbConnectionOptions } from '#src/mongodb/mongodb-connection.ts';
import { Superseded } from '#src/superseded.ts';
import { beginning, type Checkpoint, type CheckpointStore } from './checkpoint-store.ts';

const checkpointsName = 'processCheckpoints';

interface CheckpointRecord<Position = Long> {
  /** The process's name. */
  readonly _id: string;
  readonly position: Position;
  readonly lastAppended: Position;
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
  const records = <Result>(work: (records: Collection<CheckpointRecord>) => Promise<Result>) =>
    connection.call((database) => work(database.collection(checkpointsName)));
  const write = async (process: string, checkpoint: Checkpoint): Promise<void> => {
    const { matchedCount } = await records((all) =>
      all.updateOne({ _id: process, fence: { $lte: token } }, { $max: stored(checkpoint), $set: { fence: token } }),
    );
    if (matchedCount === 0) throw new Superseded(`The process ${process} is run by another node now.`);
  };
  const peek = async (process: string): Promise<Checkpoint> => {
    const record = await connection.call((database) =>
      database.collection<CheckpointRecord<number>>(checkpointsName).findOne({ _id: process }),
    );
    return record === null ? beginning : { position: record.position, lastAppended: record.lastAppended };
  };
  return {
    read: async (process) => {
      const begun = { $setOnInsert: { ...stored(beginning), fence: token } };
      await records((all) => all.updateOne({ _id: process }, begun, { upsert: true }));
      await write(process, beginning);
      return peek(process);
    },
    peek,
    write,
    close: () => connection.close(),
  };
}

function stored({ position, lastAppended }: Checkpoint): Pick<CheckpointRecord, 'position' | 'lastAppended'> {
  return { position: Long.fromNumber(position), lastAppended: Long.fromNumber(lastAppended) };
}
