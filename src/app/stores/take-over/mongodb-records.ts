import type { Document } from 'mongodb';
import type { StoredSnapshot } from '#application/streams/stream-snapshots.ts';
import type { EventFailure } from '#domain/shared/event-failure.ts';
import { MongoDbConnection, type MongoDbConnectionOptions } from '#mongodb/mongodb-connection.ts';
import type { RecordStore } from '#records/record-store.ts';
import { EncodedJson } from '#shared/json/encoded-json.ts';
import { type EarlierRecords, partsToTakeOver, type TakeOverPart, takeOverRecords } from './take-over-records.ts';

export type MongoDbTakeOverOptions = MongoDbConnectionOptions & {
  readonly records: RecordStore;
  readonly part: TakeOverPart;
};

/**
 * Copies a part of what release 0.3 has stored in collections of its own into the records, once. What a node of that
 * release writes later is not copied.
 * @throws UnavailableError
 */
export async function takeOverMongoDbRecords({ records, part, ...options }: MongoDbTakeOverOptions): Promise<void> {
  if ((await partsToTakeOver(records, [part])).length === 0) return;
  const connection = new MongoDbConnection(options);
  try {
    await takeOverRecords(records, earlierRecords(connection), part);
  } finally {
    await connection.close();
  }
}

interface CheckpointRecord {
  readonly _id: string;
  readonly log?: string;
  readonly position: number;
  readonly lastAppended: number;
  readonly failure?: EventFailure | null;
}

interface NoteRecord {
  readonly _id: string;
  readonly body: string;
}

type SnapshotRecord = Omit<StoredSnapshot, 'stream'> & { readonly _id: string };

function earlierRecords(connection: MongoDbConnection): EarlierRecords {
  const all = <Stored extends Document>(collection: string) =>
    connection.call((database) => database.collection<Stored>(collection).find().toArray());
  return {
    checkpoints: async () =>
      (await all<CheckpointRecord>('processCheckpoints')).map(
        ({ _id: process, log = null, position, lastAppended, failure = null }) => ({
          process,
          log,
          position,
          lastAppended,
          failure,
        }),
      ),
    deliveries: async () =>
      (await all<{ _id: string; log?: string; state?: string }>('webhookDeliveryStates')).flatMap(
        // The record of the followed position has no state before the first write.
        ({ _id: endpoint, log, state }) => (log === undefined || state === undefined ? [] : [{ endpoint, log, state }]),
      ),
    keyUsage: async () =>
      new Map((await all<{ _id: string; time: string }>('keysLastUsed')).map(({ _id, time }) => [_id, time])),
    snapshots: () => snapshotsOf(connection),
    // The status and the positions are about read models that this release makes from the log again.
    notes: async () => {
      const notes = await all<NoteRecord>('notes');
      const operatorState = notes.find(({ _id }) => _id === 'operator-state');
      return new Map(operatorState && [[operatorState._id, new EncodedJson(operatorState.body)]]);
    },
  };
}

/** Reads one snapshot at a time, because they are large. */
async function* snapshotsOf(connection: MongoDbConnection): AsyncGenerator<StoredSnapshot> {
  const streams = await connection.call((database) =>
    database
      .collection<SnapshotRecord>('snapshots')
      .find({}, { projection: { _id: 1 } })
      .toArray(),
  );
  for (const { _id } of streams) {
    const found = await connection.call((database) =>
      database.collection<SnapshotRecord>('snapshots').findOne({ _id }),
    );
    if (found === null) continue;
    const { _id: stream, revision, hash, stateVersion, body } = found;
    yield { stream, revision, hash, stateVersion, body };
  }
}
