import { type AnyBulkWriteOperation, type Collection, type Filter, Long } from 'mongodb';
import { MongoDbConnection, type MongoDbConnectionOptions } from '#mongodb/mongodb-connection.ts';
import { areDuplicates, isDuplicateKey } from '#mongodb/mongodb-failure.ts';
import type {
  RecordKey,
  RecordKind,
  RecordPutOptions,
  RecordRange,
  RecordStore,
  RecordWriteOptions,
} from '#records/record-store.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { EncodedJson, type Json, jsonTextOf } from '#shared/json/json.ts';

interface StoredRecord<Token = Long> {
  /** The kind and the key; the kind alone for the record with the token of the kind's newest `take`. */
  readonly _id: string;
  /**
   * The value as JSON text, because names of members may be operators for MongoDB. Missing in the record of the kind.
   */
  readonly value?: string;
  /** The token of the newest writer of the record; 0 without one. */
  readonly fence: Token;
}

interface FoundText {
  readonly _id: string;
  readonly text: string;
}

/**
 * The kinds with many or large records have collections of their own, because FerretDB reads the whole collection for
 * a query of several records. The others share one, so that one command reads them.
 */
const ownCollections: ReadonlySet<RecordKind> = new Set([
  'webhook-deliveries',
  'webhook-messages',
  'key-usage',
  'snapshots',
]);

/** How often a write is repeated because another node has created one of its records meanwhile. */
const maxAttempts = 3;

/**
 * Opens records on MongoDB, which all nodes share. Each record has the token of its last writer, so that one command
 * checks the token and writes. FerretDB checks and writes in two steps: a write of an older holder that arrives during
 * the first write of a newer one may be stored, until the newer holder writes the record again.
 */
export function openMongoDbRecordStore(options: MongoDbConnectionOptions): RecordStore {
  return new MongoDbRecordStore(new MongoDbConnection(options));
}

class MongoDbRecordStore implements RecordStore {
  readonly #connection: MongoDbConnection;

  constructor(connection: MongoDbConnection) {
    this.#connection = connection;
  }

  async get(kind: RecordKind, key: string): Promise<Json | null> {
    return (await this.encoded(kind, key))?.parse() ?? null;
  }

  async encoded(kind: RecordKind, key: string): Promise<EncodedJson<Json> | null> {
    const [found] = await this.#find(collectionOf(kind), withIds([idOf({ kind, key })]));
    return found === undefined ? null : new EncodedJson(found.text);
  }

  async read(places: ReadonlyArray<RecordKey>): Promise<ReadonlyArray<Json | null>> {
    const texts = new Map<string, string>();
    for (const [collection, ofCollection] of Map.groupBy(places, ({ kind }) => collectionOf(kind))) {
      const found = await this.#find(collection, withIds(ofCollection.map(idOf)));
      for (const { _id, text } of found) texts.set(_id, text);
    }
    return places.map((place) => JSON.parse(texts.get(idOf(place)) ?? 'null'));
  }

  async all(kind: RecordKind, keys?: ReadonlyArray<string>): Promise<ReadonlyMap<string, Json>> {
    const filter = keys === undefined ? ofKind(kind) : withIds(keys.map((key) => idOf({ kind, key })));
    return valuesOf(kind, await this.#find(collectionOf(kind), filter));
  }

  async page(kind: RecordKind, { after = '', before, limit }: RecordRange): Promise<ReadonlyMap<string, Json>> {
    const end = before === undefined ? ofKind(kind)._id.$lt : idOf({ kind, key: before });
    const filter = { _id: { $gt: idOf({ kind, key: after }), $lt: end } };
    return valuesOf(kind, await this.#find(collectionOf(kind), filter, limit));
  }

  async take(kind: RecordKind, fence: number): Promise<void> {
    const token = Long.fromNumber(fence);
    await this.#records(kind, async (records) => {
      try {
        await records.updateOne({ _id: kind, fence: { $lte: token } }, { $set: { fence: token } }, { upsert: true });
      } catch (error) {
        // The filter did not match because the record has a newer token. The upsert then met the existing id.
        if (isDuplicateKey(error)) throw supersededError(kind, fence);
        throw error;
      }
    });
    await this.#records(kind, (records) =>
      records.updateMany({ ...ofKind(kind), fence: { $lt: token } }, { $set: { fence: token } }),
    );
  }

  async put(
    kind: RecordKind,
    entries: ReadonlyMap<string, Json | EncodedJson>,
    options: RecordPutOptions = {},
  ): Promise<void> {
    if (entries.size === 0) return;
    const texts = [...entries].map(([key, value]) => [idOf({ kind, key }), jsonTextOf(value)] as const);
    if (options.fence !== undefined) return this.#putFenced(kind, new Map(texts), options.fence);
    if (options.keep === 'existing') return this.#insert(kind, texts, 0).then(() => undefined);
    await this.#upsert(kind, texts, options.keep === 'greater' ? '$max' : '$set');
  }

  async delete(kind: RecordKind, keys: ReadonlyArray<string>, { fence }: RecordWriteOptions = {}): Promise<void> {
    if (keys.length === 0) return;
    const ids = keys.map((key) => idOf({ kind, key }));
    const notNewer = fence === undefined ? {} : { fence: { $lte: Long.fromNumber(fence) } };
    await this.#records(kind, (records) => records.deleteMany({ ...withIds(ids), ...notNewer }));
    if (fence === undefined) return;
    const left = await this.#fences(kind, [...ids, kind]);
    if ([...left.values()].some((newest) => newest > fence)) throw supersededError(kind, fence);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** Writes records with a token. Usually this is one command. Only records that do not exist yet need more. */
  async #putFenced(kind: RecordKind, texts: ReadonlyMap<string, string>, fence: number): Promise<void> {
    const token = Long.fromNumber(fence);
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const matched = await this.#writeMany(
        kind,
        [...texts].map(([_id, value]) => ({
          updateOne: { filter: { _id, fence: { $lte: token } }, update: { $set: { value, fence: token } } },
        })),
      );
      if (matched === texts.size) return;
      const fences = await this.#fences(kind, [...texts.keys(), kind]);
      if ([...fences.values()].some((newest) => newest > fence)) break;
      const missing = [...texts].filter(([id]) => !fences.has(id));
      if (await this.#insert(kind, missing, fence)) return;
    }
    throw supersededError(kind, fence);
  }

  async #upsert(
    kind: RecordKind,
    texts: ReadonlyArray<readonly [string, string]>,
    operator: '$set' | '$max',
  ): Promise<void> {
    const operations = texts.map(([_id, value]) => ({
      updateOne: {
        filter: { _id },
        update: { [operator]: { value }, $setOnInsert: { fence: Long.fromNumber(0) } },
        upsert: true,
      },
    }));
    await this.#writeMany(kind, operations);
  }

  /** Inserts records. Existing ones are left unchanged. @returns false if some existed already */
  #insert(kind: RecordKind, texts: ReadonlyArray<readonly [string, string]>, fence: number): Promise<boolean> {
    const documents = texts.map(([_id, value]) => ({ _id, value, fence: Long.fromNumber(fence) }));
    return this.#records(kind, async (records) => {
      try {
        if (documents.length > 0) await records.insertMany(documents, { ordered: false });
        return true;
      } catch (error) {
        if (!areDuplicates(error)) throw error;
        return false;
      }
    });
  }

  /** @returns how many records the filters have matched */
  async #writeMany(kind: RecordKind, operations: AnyBulkWriteOperation<StoredRecord>[]): Promise<number> {
    const size = operations.length > 1 ? await this.#connection.maxUpdates() : 1;
    let matched = 0;
    for (let from = 0; from < operations.length; from += size) {
      const some = operations.slice(from, from + size);
      matched += await this.#records(kind, (records) => writeTogether(records, some));
    }
    return matched;
  }

  /** The tokens of those records that exist, by id. */
  async #fences(kind: RecordKind, ids: ReadonlyArray<string>): Promise<ReadonlyMap<string, number>> {
    const found = await this.#connection.call((database) =>
      database
        .collection<StoredRecord<number>>(collectionOf(kind))
        .find(withIds(ids), { projection: { fence: 1 } })
        .toArray(),
    );
    return new Map(found.map(({ _id, fence }) => [_id, fence]));
  }

  /** @param limit the maximum, in the order of their ids. Default: all, in any order */
  async #find(collection: string, filter: Filter<StoredRecord>, limit?: number): Promise<FoundText[]> {
    const order = limit === undefined ? {} : ({ sort: { _id: 1 }, limit } as const);
    const found = await this.#connection.call((database) =>
      database.collection<StoredRecord>(collection).find(filter, order).toArray(),
    );
    return found.flatMap(({ _id, value }) => (value === undefined ? [] : [{ _id, text: value }]));
  }

  #records<Result>(kind: RecordKind, work: (records: Collection<StoredRecord>) => Promise<Result>): Promise<Result> {
    return this.#connection.call((database) => work(database.collection(collectionOf(kind))));
  }
}

async function writeTogether(
  records: Collection<StoredRecord>,
  operations: AnyBulkWriteOperation<StoredRecord>[],
): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return (await records.bulkWrite(operations, { ordered: false })).matchedCount;
    } catch (error) {
      // When two nodes create the same record at the same time, one of them gets a duplicate-key error.
      if (attempt === maxAttempts || !areDuplicates(error)) throw error;
    }
  }
}

function valuesOf(kind: RecordKind, found: ReadonlyArray<FoundText>): ReadonlyMap<string, Json> {
  const before = idOf({ kind, key: '' }).length;
  return new Map(found.map(({ _id, text }) => [_id.slice(before), JSON.parse(text)]));
}

function collectionOf(kind: RecordKind): string {
  return ownCollections.has(kind) ? `records.${kind}` : 'records';
}

function idOf({ kind, key }: RecordKey): string {
  return `${kind}/${key}`;
}

/** Selects the ids of a kind. In the order of texts `0` follows `/`. */
function ofKind(kind: RecordKind): { readonly _id: { readonly $gte: string; readonly $lt: string } } {
  return { _id: { $gte: `${kind}/`, $lt: `${kind}0` } };
}

/** Selects ids. FerretDB finds a single one by its index. */
function withIds(ids: ReadonlyArray<string>): { readonly _id: string | { readonly $in: string[] } } {
  const [id] = ids;
  return { _id: ids.length === 1 && id !== undefined ? id : { $in: [...ids] } };
}

function supersededError(kind: RecordKind, fence: number): FencedError {
  return new FencedError(`The records of ${kind} are written with a newer token than ${fence} now.`);
}
