import type { Collection, Db, Filter } from 'mongodb';
import { MongoDbConnection, type MongoDbConnectionOptions } from '#mongodb/mongodb-connection.ts';
import { ReadStoreNotes } from '#read-store/notes.ts';
import type {
  DocumentValue,
  Generation,
  Page,
  PageRequest,
  ProjectionStatus,
  ReadStore,
  Where,
} from '#read-store/read-store.ts';
import type { StoredDocument } from '#read-store/stored-document.ts';
import type { UnknownEventType } from '#read-store/unknown-event-types.ts';
import type { RecordStore } from '#records/record-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { currentGeneration, type ReadModelRecord, readModelsName } from './read-model-record.ts';
import { type DocumentRecord, documentsName, storedDocument, whereConditions } from './stored-document.ts';

/** How often a read is repeated because its generation was replaced meanwhile. */
const maxAttempts = 5;
/** The most documents that the server sends at once. */
const batchSize = 500;

export type MongoDbReadStoreOptions = MongoDbConnectionOptions & {
  /** The records with the notes of the read store. Their owner closes them after the read store. */
  readonly records: RecordStore;
};

/** Opens the reading side of a read store on MongoDB. It connects at the first call. */
export function openMongoDbReadStore({ records, ...options }: MongoDbReadStoreOptions): ReadStore {
  return new MongoDbReadStore(new MongoDbConnection(options), new ReadStoreNotes(records));
}

type Documents = Collection<DocumentRecord<number>>;

class MongoDbReadStore implements ReadStore {
  readonly #connection: MongoDbConnection;
  readonly #notes: ReadStoreNotes;
  /** The last known current generations, by collection. */
  readonly #known = new Map<string, Generation>();

  constructor(connection: MongoDbConnection, notes: ReadStoreNotes) {
    this.#connection = connection;
    this.#notes = notes;
  }

  async get<Value extends DocumentValue>(collection: string, id: string): Promise<StoredDocument<Value> | null> {
    return this.#reading(collection, async (documents) => {
      const found = await documents.findOne({ _id: id });
      return found === null ? null : storedDocument(found);
    });
  }

  async list<Value extends DocumentValue>(collection: string, where: Where, page: PageRequest): Promise<Page<Value>> {
    return this.#reading(collection, (documents, { indexes }) =>
      pageOf<Value>(documents, { ...whereConditions(indexes, where), ...afterPlace(page) }, page),
    );
  }

  status(): Promise<ReadonlyArray<ProjectionStatus>> {
    return this.#notes.status();
  }

  async unknownEvents(): Promise<ReadonlyArray<UnknownEventType>> {
    return (await this.#notes.operatorState()).unknownEvents?.types ?? [];
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /**
   * Reads from the current generation, within one time limit. After the read it checks that the generation is still
   * current. Otherwise the generation may have been dropped during the read, and the result is discarded.
   */
  #reading<Result>(
    collection: string,
    work: (documents: Documents, generation: Generation) => Promise<Result>,
  ): Promise<Result> {
    return this.#connection.call(async (database) => {
      let generation = this.#known.get(collection) ?? (await this.#current(database, collection));
      for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
        const { number } = generation;
        const [outcome] = await Promise.allSettled([work(database.collection(documentsName(number)), generation)]);
        generation = await this.#current(database, collection);
        if (generation.number !== number) continue;
        if (outcome.status === 'rejected') throw outcome.reason;
        return outcome.value;
      }
      throw new UnavailableError(`The read model ${collection} is being replaced over and over.`);
    });
  }

  async #current(database: Db, collection: string): Promise<Generation> {
    const records = database.collection<ReadModelRecord<number>>(readModelsName);
    const current = currentGeneration(await records.findOne({ _id: collection }));
    if (current === null) throw new UnavailableError(`The read model ${collection} is not there yet.`);
    this.#known.set(collection, current);
    return current;
  }
}

/**
 * The filter for existing documents after a place of a list. Removed documents have no order, so the filter excludes
 * them.
 */
function afterPlace({ after, newestFirst = false }: PageRequest): Filter<DocumentRecord<number>> {
  if (after === undefined) return { 'state.order': { $gte: 0 } };
  if (newestFirst) {
    return {
      'state.order': { $lte: after.order, $gte: 0 },
      $or: [{ 'state.order': { $lt: after.order } }, { _id: { $lt: after.id } }],
    };
  }
  return {
    'state.order': { $gte: after.order },
    $or: [{ 'state.order': { $gt: after.order } }, { _id: { $gt: after.id } }],
  };
}

async function pageOf<Value extends DocumentValue>(
  collection: Documents,
  filter: Filter<DocumentRecord<number>>,
  { limit, maxBytes, newestFirst = false }: PageRequest,
): Promise<Page<Value>> {
  const documents: StoredDocument<Value>[] = [];
  let bytes = 0;
  const direction = newestFirst ? -1 : 1;
  const cursor = collection.find(filter, {
    sort: { 'state.order': direction, _id: direction },
    limit: limit + 1,
    batchSize: Math.min(limit + 1, batchSize),
  });
  try {
    for await (const record of cursor) {
      if (record.state.order === null) continue;
      bytes += Buffer.byteLength(record.state.body);
      const last = documents.at(-1);
      if (last !== undefined && (documents.length === limit || bytes > maxBytes)) {
        return { documents, next: { order: last.order, id: last.id } };
      }
      const document = storedDocument<Value>(record);
      if (document !== null) documents.push(document);
    }
    return { documents, next: null };
  } finally {
    await cursor.close();
  }
}
