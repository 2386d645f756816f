import { type Collection, type Filter, Long, type UpdateFilter } from 'mongodb';
import type { EventFailure } from '#domain/shared/event-failure.ts';
import { MongoDbConnection, type MongoDbConnectionOptions } from '#mongodb/mongodb-connection.ts';
import {
  type Checkpoint,
  type CheckpointStore,
  startOfLog,
  type WatchedCheckpoint,
  watchedCheckpoint,
} from '#process-engine/checkpoints/checkpoint-store.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';

const checkpointsName = 'processCheckpoints';

interface CheckpointRecord<Position = Long> {
  /** The process's name. */
  readonly _id: string;
  /** The log of the positions; missing in records of older releases. */
  readonly log?: string;
  readonly position: Position;
  readonly lastAppended: Position;
  /** The event at which the process has stopped; missing in records of older releases. */
  readonly failure?: EventFailure | null;
  /** The newest known fencing token. */
  readonly fence: Position;
}

export interface MongoDbCheckpointStoreOptions extends MongoDbConnectionOptions {
  /** The token of the lease under which the processes run. Default 0: no other node runs any. */
  readonly fence?: number;
}

/**
 * Checkpoints on MongoDB, which nodes share. Writes never move them back, so late writes do no harm. A read marks this
 * node as the one that runs the process: from then on a node with an older token gets `FencedError`.
 */
export function openMongoDbCheckpointStore({ fence = 0, ...options }: MongoDbCheckpointStoreOptions): CheckpointStore {
  const connection = new MongoDbConnection(options);
  const token = Long.fromNumber(fence);
  const begun = { ...stored(startOfLog), failure: null, fence: token };
  const records = <Result>(work: (records: Collection<CheckpointRecord>) => Promise<Result>) =>
    connection.call((database) => work(database.collection(checkpointsName)));
  /** @returns false if there is no such record, or if a node with a newer token has it */
  const change = async (filter: Filter<CheckpointRecord>, update: UpdateFilter<CheckpointRecord>): Promise<boolean> => {
    const fenced = { ...filter, fence: { $lte: token } };
    return (await records((all) => all.updateOne(fenced, update))).matchedCount > 0;
  };
  const changeOwn = async (process: string, log: string, update: UpdateFilter<CheckpointRecord>): Promise<void> => {
    if (await change({ _id: process, log }, update)) return;
    throw new FencedError(`The process ${process} is run by another node now, or on another log.`);
  };
  const write = (process: string, log: string, checkpoint: Checkpoint) =>
    changeOwn(process, log, { $max: stored(checkpoint), $set: { fence: token } });
  const peek = async (process: string, log: string): Promise<WatchedCheckpoint> => {
    const record = await connection.call((database) =>
      database.collection<CheckpointRecord<number>>(checkpointsName).findOne({ _id: process }),
    );
    if (record === null || (record.log ?? log) !== log) return watchedCheckpoint(startOfLog, null);
    const { position, lastAppended, failure = null } = record;
    return watchedCheckpoint({ position, lastAppended }, failure);
  };
  return {
    read: async (process, log) => {
      await records((all) => all.updateOne({ _id: process }, { $setOnInsert: { ...begun, log } }, { upsert: true }));
      await change({ _id: process, log: { $exists: false } }, { $set: { log, fence: token } });
      await change({ _id: process, log: { $ne: log } }, { $set: { ...begun, log } });
      await write(process, log, startOfLog);
      const { position, lastAppended } = await peek(process, log);
      return { position, lastAppended };
    },
    peek,
    write,
    writeFailure: (process, log, failure) => changeOwn(process, log, { $set: { failure, fence: token } }),
    // A reset that the server executes late may follow newer writes. The next write is ahead of it again.
    reset: (process, log) => changeOwn(process, log, { $set: begun }),
    close: () => connection.close(),
  };
}

function stored({ position, lastAppended }: Checkpoint): Pick<CheckpointRecord, 'position' | 'lastAppended'> {
  return { position: Long.fromNumber(position), lastAppended: Long.fromNumber(lastAppended) };
}
