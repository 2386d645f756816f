import { LRUCache } from 'lru-cache';
import type { Collection, Db, Filter } from 'mongodb';
import { MongoDbConnection, type MongoDbConnectionOptions } from '#mongodb/mongodb-connection.ts';
import { ReadStoreNotes } from '#read-store/notes.ts';
import type {
  DocumentPage,
  DocumentValue,
  Generation,
  PageKey,
  PageRequest,
  ProjectionStatus,
  ReadStore,
  UnknownEventType,
  Where,
} from '#read-store/read-store.ts';
import type { StoredDocument } from '#read-store/stored-document.ts';
import type { RecordStore } from '#records/record-store.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { currentGeneration, type ReadModelRecord, readModelsName } from './read-model-record.ts';
import { type DocumentRecord, documentsName, storedDocument, whereFilter } from './stored-document.ts';

/**
 * For this time a reader relies on the announced generations. The writer keeps a replaced generation three times as
 * long.
 */
const maxAnnouncementAgeMs = 20_000;
/** How often a read is repeated because its generation was replaced meanwhile. */
const maxAttempts = 5;
/** Maximum documents of one read. Those of one read do not contradict each other. */
const maxPart = 500;

/** The generations that queries read, as the node that writes them has announced. */
export interface AnnouncedGenerations {
  /** The generation; undefined if it is not known. */
  readonly generationOf: (collection: string) => number | undefined;
  /** When they were read, on this process's clock. */
  readonly readAt: () => number;
}

export type MongoDbReadStoreOptions = MongoDbConnectionOptions & {
  /** The records with the notes of the read store. Their owner closes them after the read store. */
  readonly records: RecordStore;
  /** The announced generations. Default: none, so that each read asks the store which generation is current. */
  readonly announced?: AnnouncedGenerations;
};

/** It connects at the first call. */
export function openMongoDbReadStore({ records, announced, ...options }: MongoDbReadStoreOptions): ReadStore {
  return new MongoDbReadStore(new MongoDbConnection(options), new ReadStoreNotes(records), announced ?? unknown);
}

const unknown: AnnouncedGenerations = {
  generationOf: () => undefined,
  readAt: () => Number.NEGATIVE_INFINITY,
};

type Documents = Collection<DocumentRecord<number>>;

class MongoDbReadStore implements ReadStore {
  readonly #connection: MongoDbConnection;
  readonly #notes: ReadStoreNotes;
  readonly #announced: AnnouncedGenerations;
  /** The mean bytes of a list's documents, as its last page has them, so that a page reads about as many as fit. */
  readonly #documentBytes = new LRUCache<string, number>({ max: maxLists });
  readonly #known = new Map<string, Generation>();

  constructor(connection: MongoDbConnection, notes: ReadStoreNotes, announced: AnnouncedGenerations) {
    this.#connection = connection;
    this.#notes = notes;
    this.#announced = announced;
  }

  async get<Value extends DocumentValue>(collection: string, id: string): Promise<StoredDocument<Value> | null> {
    const read = async (documents: Documents) => {
      const found = await documents.findOne({ _id: id });
      return found === null ? null : storedDocument<Value>(found);
    };
    return this.#reading(collection, read, (found) => found === null);
  }

  async list<Value extends DocumentValue>(
    collection: string,
    where: Where,
    page: PageRequest,
  ): Promise<DocumentPage<Value>> {
    const list = `${collection} ${JSON.stringify(where)}`;
    const read = async (documents: Documents, { indexes }: Generation) => {
      const expected = this.#documentBytes.get(list) ?? usualBytes;
      const { bytes, ...found } = await pageOf<Value>(documents, whereFilter(indexes, where), page, expected);
      if (found.documents.length > 0) this.#documentBytes.set(list, bytes / found.documents.length);
      return found;
    };
    return this.#reading(collection, read, ({ documents }) => documents.length === 0);
  }

  async count(collection: string, where: Where, limit: number): Promise<number> {
    const read = (documents: Documents, { indexes }: Generation) =>
      documents.countDocuments({ ...whereFilter(indexes, where), ...afterPlace({}) }, { limit });
    return this.#reading(collection, read, (count) => count === 0);
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
   * Reads from the current generation, within one time limit. A replaced generation is dropped some time after its
   * announcement, and a dropped one answers with nothing. So a result with documents counts if the announcement is not
   * old. Any other result counts only if the generation is still current afterwards.
   * @param isNothing whether a result has no documents
   */
  #reading<Result>(
    collection: string,
    work: (documents: Documents, generation: Generation) => Promise<Result>,
    isNothing: (result: Result) => boolean,
  ): Promise<Result> {
    return this.#connection.call(async (database) => {
      const reliableUntil = this.#announced.readAt() + maxAnnouncementAgeMs;
      let generation = this.#announcedOf(collection) ?? (await this.#current(database, collection));
      for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
        const { number } = generation;
        const [outcome] = await Promise.allSettled([work(database.collection(documentsName(generation)), generation)]);
        const isSomething = outcome.status === 'fulfilled' && !isNothing(outcome.value);
        if (isSomething && clock.now() <= reliableUntil) return outcome.value;
        generation = await this.#current(database, collection);
        if (generation.number !== number) continue;
        if (outcome.status === 'rejected') throw outcome.reason;
        return outcome.value;
      }
      throw new UnavailableError(`The read model ${collection} is being replaced over and over.`);
    });
  }

  /** The announced generation, as far as it is known without a read. A generation's number only grows. */
  #announcedOf(collection: string): Generation | null {
    const known = this.#known.get(collection);
    const announced = this.#announced.generationOf(collection);
    return known !== undefined && known.number >= (announced ?? 0) ? known : null;
  }

  async #current(database: Db, collection: string): Promise<Generation> {
    const records = database.collection<ReadModelRecord<number>>(readModelsName);
    const current = currentGeneration(await records.findOne({ _id: collection }));
    if (current === null) throw new UnavailableError(`The read model ${collection} is not there yet.`);
    this.#known.set(collection, current);
    return current;
  }
}

/** Selects what follows a place. Removed documents have no order, so the filter excludes them. */
function afterPlace({
  after,
  newestFirst = false,
}: Pick<PageRequest, 'after' | 'newestFirst'>): Filter<DocumentRecord<number>> {
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

/**
 * Reads a page, in parts of as many documents as are expected to fit. It reads few that do not fit, most pages are one
 * part, and no cursor stays open.
 * @param expected the bytes of a document
 */
async function pageOf<Value extends DocumentValue>(
  collection: Documents,
  conditions: Filter<DocumentRecord<number>>,
  page: PageRequest,
  expected: number,
): Promise<DocumentPage<Value> & { readonly bytes: number }> {
  const { limit, maxBytes } = page;
  const documents: StoredDocument<Value>[] = [];
  let bytes = 0;
  let after = page.after;
  for (;;) {
    const bytesOfOne = documents.length === 0 ? expected : bytes / documents.length;
    // One more shows whether the page is the last.
    const fitting = Math.ceil((maxBytes - bytes) / bytesOfOne) + 1;
    const count = Math.min(fitting, limit + 1 - documents.length, maxPart);
    const part = await partOf(collection, conditions, { ...page, ...(after && { after }), limit: count });
    for (const record of part) {
      const document = storedDocument<Value>(record);
      if (document === null) continue;
      const size = Buffer.byteLength(document.text);
      const last = documents.at(-1);
      if (last !== undefined && (documents.length === limit || bytes + size > maxBytes)) {
        return { documents, next: keyOf(last), bytes };
      }
      bytes += size;
      documents.push(document);
    }
    const last = documents.at(-1);
    if (part.length < count || last === undefined) return { documents, next: null, bytes };
    after = keyOf(last);
  }
}

function partOf(
  collection: Documents,
  conditions: Filter<DocumentRecord<number>>,
  page: PageRequest,
): Promise<ReadonlyArray<DocumentRecord<number>>> {
  const { limit, newestFirst = false } = page;
  const direction = newestFirst ? -1 : 1;
  const sort = { 'state.order': direction, _id: direction } as const;
  return collection.find({ ...conditions, ...afterPlace(page) }, { sort, limit, batchSize: limit }).toArray();
}

const keyOf = ({ order, id }: PageKey): PageKey => ({ order, id });

/** The assumed bytes of a document of a list that was not read before: 512 of them are a page of 2 MiB. */
const usualBytes = 4 * 1024;
/** Maximum number of lists whose sizes are remembered. */
const maxLists = 1_000;
