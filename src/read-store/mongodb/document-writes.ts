import { type Collection, type Filter, MongoBulkWriteError } from 'mongodb';
import {
  type DocumentRecord,
  documentsName,
  indexedFields,
  removedAt,
  stateOf,
  whereConditions,
} from '#read-store/mongodb/stored-document.ts';
import type { DocumentWrite, Generation } from '#read-store/read-store.ts';
import { type MongoDbConnection, writeErrorCodes } from '#src/mongodb/mongodb-connection.ts';

/** What one call holds at most, so that each is done well within its time limit. */
const maxCallWrites = 1000;
const maxCallBytes = 4 * 1024 * 1024;
/** What a removal by index replaces at once, at most. */
const maxRemovals = 1000;
/** How long it is remembered that a document was removed. */
const rememberedMilliseconds = 24 * 60 * 60 * 1000;

type PutOrDelete = DocumentWrite & { readonly kind: 'put' | 'delete' };
type DeleteWhere = DocumentWrite & { readonly kind: 'delete-where' };

/** How writes are to be applied. */
export interface Applying {
  readonly connection: MongoDbConnection;
  readonly generation: Generation;
  /** The position up to which the generation was stored before: a document made since is probably not there yet. */
  readonly storedUpTo: number;
  /** Called before each call of the store; what it throws ends the applying. */
  readonly beforeCall: () => Promise<void>;
}

/**
 * Applies writes to a generation's documents, in bounded calls. What it stored when it fails does no harm: it may be
 * applied again.
 * @throws Unavailable; Error, with nothing stored, if a removal asks for an index that was not declared
 */
export async function applyWrites(writes: ReadonlyArray<DocumentWrite>, applying: Applying): Promise<void> {
  for (const write of writes) {
    if (write.kind === 'delete-where') whereConditions(applying.generation.indexes, write.where);
  }
  const run: PutOrDelete[] = [];
  for (const write of writes) {
    if (write.kind !== 'delete-where') {
      run.push(write);
      continue;
    }
    await writeRun(run.splice(0), applying);
    await removeWhere(write, applying);
  }
  await writeRun(run, applying);
}

/**
 * Forgets some documents that were removed more than a day ago.
 * @returns whether there may be more
 * @throws Unavailable
 */
export async function forgetRemoved(connection: MongoDbConnection, generation: Generation): Promise<boolean> {
  const old = { 'state.live': false, 'state.removedAt': { $lt: new Date(Date.now() - rememberedMilliseconds) } };
  // What was removed has no order: so the index on it finds them.
  const ids = await connection.call((database) =>
    database
      .collection<DocumentRecord>(documentsName(generation.number))
      .find({ 'state.order': null, ...old }, { projection: { _id: 1 }, limit: maxCallWrites })
      .map(({ _id }) => _id)
      .toArray(),
  );
  if (ids.length === 0) return false;
  await connection.call((database) =>
    database.collection<DocumentRecord>(documentsName(generation.number)).deleteMany({ _id: { $in: ids }, ...old }),
  );
  return ids.length === maxCallWrites;
}

async function writeRun(run: ReadonlyArray<PutOrDelete>, applying: Applying): Promise<void> {
  const fields = indexedFields(applying.generation.indexes);
  for (const chunk of chunks(run)) {
    const records = chunk.map((write) => ({ _id: write.id, state: stateOf(write, fields) }));
    const isMade = ({ state }: DocumentRecord) => state.live && state.order.greaterThan(applying.storedUpTo);
    const made = records.filter(isMade);
    const doubled = made.length > 0 && !(await insert(made, applying));
    // Those that were there already were made by a commit that is now sent again, or removed before: living or not.
    await merge(doubled ? records : records.filter((record) => !isMade(record)), applying);
  }
}

/** @returns false if some of them were there already; the others are stored */
async function insert(records: ReadonlyArray<DocumentRecord>, applying: Applying): Promise<boolean> {
  const operations = records.map((document) => ({ insertOne: { document } }));
  return calling(applying, async (collection) => {
    try {
      await collection.bulkWrite(operations, { ordered: false });
      return true;
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      return false;
    }
  });
}

/** Stores each state unless a later one stands. */
async function merge(records: ReadonlyArray<DocumentRecord>, applying: Applying): Promise<void> {
  const operations = records.map(({ _id, state }) => ({
    updateOne: { filter: { _id }, update: { $max: { state } }, upsert: true },
  }));
  const together = await applying.connection.maxUpdates();
  for (let start = 0; start < operations.length; start += together) {
    const some = operations.slice(start, start + together);
    await calling(applying, (collection) => collection.bulkWrite(some, { ordered: false }));
  }
}

async function removeWhere({ where, position }: DeleteWhere, applying: Applying): Promise<void> {
  const filter = {
    ...whereConditions(applying.generation.indexes, where),
    'state.live': true,
    'state.position': { $lt: position },
  };
  const state = removedAt(position);
  for (;;) {
    const found = await calling(applying, (collection) =>
      collection
        .find(filter, { projection: { _id: 1 }, limit: maxRemovals, batchSize: maxRemovals })
        .map(({ _id }) => ({ _id, state }))
        .toArray(),
    );
    await replaceByRemoved(found, filter, applying);
    if (found.length < maxRemovals) return;
  }
}

async function replaceByRemoved(
  removed: ReadonlyArray<DocumentRecord>,
  filter: Filter<DocumentRecord>,
  applying: Applying,
): Promise<void> {
  const together = await applying.connection.maxUpdates();
  if (removed.length <= together || together >= maxRemovals) return merge(removed, applying);
  // A server that takes few updates at once is also one that looks through all documents for each of them. The price:
  // between the two calls nothing remembers that these were removed.
  const ids = removed.map(({ _id }) => _id);
  await calling(applying, (collection) => collection.deleteMany({ ...filter, _id: { $in: ids } }));
  await merge((await insert(removed, applying)) ? [] : removed, applying);
}

async function calling<Result>(
  { connection, generation, beforeCall }: Applying,
  work: (collection: Collection<DocumentRecord>) => Promise<Result>,
): Promise<Result> {
  await beforeCall();
  return connection.call((database) => work(database.collection(documentsName(generation.number))));
}

function* chunks(run: ReadonlyArray<PutOrDelete>): Iterable<ReadonlyArray<PutOrDelete>> {
  let chunk: PutOrDelete[] = [];
  let bytes = 0;
  for (const write of run) {
    const length = write.kind === 'put' ? write.body.length : 0;
    if (chunk.length === maxCallWrites || (chunk.length > 0 && bytes + length > maxCallBytes)) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(write);
    bytes += length;
  }
  if (chunk.length > 0) yield chunk;
}

function isDuplicate(error: unknown): boolean {
  return error instanceof MongoBulkWriteError && writeErrorCodes(error).every((code) => code === 11000);
}
