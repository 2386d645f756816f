import { nothingRead } from '#domain/shared/log-mark.ts';
import type { MongoDbClientOptions } from '#mongodb/reconnecting-client.ts';
import * as reading from '#read-store/mongodb/mongodb-read-store.ts';
import * as writing from '#read-store/mongodb/mongodb-read-store-writer.ts';
import { ReadStoreNotes } from '#read-store/notes.ts';
import type { PositionsWriter } from '#read-store/published-positions.ts';
import type { GenerationCommit, ReadStore, ReadStoreWriter } from '#read-store/read-store.ts';
import { openMongoDbRecordStore } from '#records/mongodb/mongodb-record-store.ts';

/** Opens the reading side of a read store on MongoDB, with records that are closed with it. */
export function openMongoDbReadStore(
  options: MongoDbClientOptions & Pick<reading.MongoDbReadStoreOptions, 'announced'>,
): ReadStore & Pick<ReadStoreNotes, 'positions'> {
  const records = openMongoDbRecordStore(options);
  const store = reading.openMongoDbReadStore({ ...options, records });
  const close = async () => {
    await store.close();
    await records.close();
  };
  const notes = new ReadStoreNotes(records);
  return beside(store, { positions: () => notes.positions(), close });
}

type MongoDbWriterOptions = MongoDbClientOptions &
  Pick<writing.MongoDbReadStoreWriterOptions, 'fence' | 'signal' | 'keepReplacedMs'>;

/** Opens the writing side of a read store on MongoDB, with records that are closed with it. */
export function openMongoDbReadStoreWriter(options: MongoDbWriterOptions): ReadStoreWriter & PositionsWriter {
  const records = openMongoDbRecordStore(options);
  const store = writing.openMongoDbReadStoreWriter({ ...options, records });
  const close = async () => {
    await store.close();
    await records.close();
  };
  return beside(store, { close });
}

/** Opens a writer whose commit also stores the checkpoints, for tests without a publisher of positions. */
export function openCheckpointingWriter(options: MongoDbWriterOptions): ReadStoreWriter & PositionsWriter {
  return checkpointing(openMongoDbReadStoreWriter(options));
}

/** Returns a writer that stores the checkpoints with each commit. */
export function checkpointing(store: ReadStoreWriter & PositionsWriter): ReadStoreWriter & PositionsWriter {
  const commit = async (commits: ReadonlyArray<GenerationCommit>) => {
    await store.commit(commits);
    await store.savePositions({ ready: true, projections: [], statusChanges: 0, read: nothingRead });
  };
  return beside(store, { commit });
}

/** Returns an object with these methods and, for all others, those of the store. */
function beside<Store extends object, Methods extends object>(store: Store, methods: Methods): Store & Methods {
  const bound = (member: unknown) => (typeof member === 'function' ? member.bind(store) : member);
  return new Proxy(Object.assign(Object.create(null), methods), {
    get: (own, name) => (name in own ? Reflect.get(own, name) : bound(Reflect.get(store, name))),
  });
}
