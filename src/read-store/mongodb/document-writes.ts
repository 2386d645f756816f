import type { AnyBulkWriteOperation, Collection, Filter } from 'mongodb';
import type { MongoDbConnection } from '#mongodb/mongodb-connection.ts';
import { areDuplicates } from '#mongodb/mongodb-failure.ts';
import { indexedFields } from '#read-store/indexable-fields.ts';
import type { DocumentWrite, Generation } from '#read-store/read-store.ts';
import { allSettled } from '#shared/async/all-settled.ts';
import { clock } from '#shared/clock.ts';
import { type DocumentRecord, documentsName, removedAt, stateOf, whereFilter } from './stored-document.ts';

/** Maximum number of writes of a call, so that each ends well within its time limit. */
const maxCallWrites = 1000;
const maxCallBytes = 4 * 1024 * 1024;
const maxForgotten = 1000;
/** How long the store remembers a removal. */
const removalRememberedMs = 24 * 60 * 60 * 1000;

type PutOrDelete = DocumentWrite & { readonly kind: 'put' | 'delete' };

/**
 * Applies writes in bounded calls. After a failure the same writes may be applied again.
 * @throws UnavailableError; Error, with nothing stored, if a removal asks for an index that was not declared
 */
export async function applyWrites(writes: ReadonlyArray<DocumentWrite>, applying: WriteContext): Promise<void> {
  for (const write of writes) {
    if (write.kind === 'delete-where') whereFilter(applying.generation.indexes, write.where);
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

export const forgetAfterMs = 60 * 60 * 1000;

/**
 * Forgets some documents that were removed more than a day ago.
 * @returns whether there may be more
 * @throws UnavailableError
 */
export async function forgetRemoved(connection: MongoDbConnection, generation: Generation): Promise<boolean> {
  // The index on the order finds them.
  const old = { 'state.order': null, 'state.removedAt': { $lt: new Date(clock.time() - removalRememberedMs) } };
  const ids = await connection.call((database) =>
    database
      .collection<DocumentRecord>(documentsName(generation))
      .find(old, { projection: { _id: 1 }, limit: maxForgotten })
      .map(({ _id }) => _id)
      .toArray(),
  );
  if (ids.length === 0) return false;
  await connection.call((database) =>
    database.collection<DocumentRecord>(documentsName(generation)).deleteMany({ _id: { $in: ids }, ...old }),
  );
  return ids.length === maxForgotten;
}

/** Writes documents of which the first are at the beginning. */
async function writeRun(run: ReadonlyArray<PutOrDelete>, applying: WriteContext): Promise<void> {
  const isFirst = (write: PutOrDelete) => write.kind === 'put' && write.isFirst === true;
  // Without new documents, one call stores them in their order.
  const isOneCall = run.length <= (await applying.connection.maxUpdates());
  if (isOneCall && !run.some((write) => isMade(write, applying))) return writeChunk(run, applying);
  await writeAny(run.filter(isFirst), applying);
  await writeAny(
    run.filter((write) => !isFirst(write)),
    applying,
  );
}

/** Writes documents in bounded calls. Each document is in one call only. */
async function writeAny(run: ReadonlyArray<PutOrDelete>, applying: WriteContext): Promise<void> {
  const left = chunks(run);
  const writeLeft = async () => {
    for (const chunk of left) await writeChunk(chunk, applying);
  };
  await allSettled(Array.from({ length: callsTogether }, writeLeft));
}

async function writeChunk(chunk: ReadonlyArray<PutOrDelete>, applying: WriteContext): Promise<void> {
  const fields = indexedFields(applying.generation.indexes);
  const made: DocumentRecord[] = [];
  const others: DocumentRecord[] = [];
  for (const write of chunk) {
    const record = { _id: write.id, state: stateOf(write, fields) };
    (isMade(write, applying) ? made : others).push(record);
  }
  const doubled = made.length > 0 && !(await insert(made, applying));
  // Documents that exist already come from an earlier attempt of this commit, or were removed before.
  await merge(doubled ? [...made, ...others] : others, applying);
}

/** True if the document is probably not stored yet. */
function isMade(write: PutOrDelete, { storedUpTo }: WriteContext): boolean {
  return write.kind === 'put' && write.order > storedUpTo;
}

function* chunks(run: ReadonlyArray<PutOrDelete>): Generator<ReadonlyArray<PutOrDelete>> {
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

interface WriteContext {
  readonly connection: MongoDbConnection;
  readonly generation: Generation;
  /**
   * The position up to which the generation is stored, before this commit. A newer document is probably not stored yet.
   */
  readonly storedUpTo: number;
  /** Repeats a call until the server answers, while this writer holds its lease. */
  readonly repeat: <Result>(call: () => Promise<Result>) => Promise<Result>;
}

/** Inserts records. Existing ones are left unchanged. @returns false if some existed already */
async function insert(records: ReadonlyArray<DocumentRecord>, applying: WriteContext): Promise<boolean> {
  const operations = records.map((document) => ({ insertOne: { document } }));
  return calling(applying, async (collection) => {
    try {
      await collection.bulkWrite(operations, { ordered: false });
      return true;
    } catch (error) {
      if (!areDuplicates(error)) throw error;
      return false;
    }
  });
}

/** Calls at the same time for documents whose order does not matter. */
const callsTogether = 2;

/** Stores records unless a later state is stored. One call stores its documents one after the other. */
async function merge(records: ReadonlyArray<DocumentRecord>, applying: WriteContext): Promise<void> {
  const operations: ReadonlyArray<AnyBulkWriteOperation<DocumentRecord>> = records.map(({ _id, state }) => ({
    updateOne: { filter: { _id }, update: { $max: { state } }, upsert: true },
  }));
  const together = await applying.connection.maxUpdates();
  let start = 0;
  const mergeLeft = async () => {
    while (start < operations.length) {
      const some = operations.slice(start, start + together);
      start += together;
      await calling(applying, (collection) => collection.bulkWrite(some, { ordered: true }));
    }
  };
  await allSettled(Array.from({ length: callsTogether }, mergeLeft));
}

/** @throws UnavailableError; FencedError */
async function calling<Result>(
  { connection, generation, repeat }: WriteContext,
  work: (collection: Collection<DocumentRecord>) => Promise<Result>,
): Promise<Result> {
  return repeat(() => connection.call((database) => work(database.collection(documentsName(generation)))));
}

/** Maximum documents that are removed together. */
const maxRemoved = 1_000;

/**
 * Removes only documents that match a declared index and that no later event has touched, in bounded calls.
 * @throws UnavailableError
 */
async function removeWhere(
  { where, position }: DocumentWrite & { readonly kind: 'delete-where' },
  applying: WriteContext,
): Promise<void> {
  const filter: Filter<DocumentRecord> = {
    ...whereFilter(applying.generation.indexes, where),
    'state.order': { $gte: 0 },
    'state.position': { $lt: position },
  };
  const options = { projection: { _id: 1 }, limit: maxRemoved, batchSize: maxRemoved };
  for (;;) {
    const found = await calling(applying, (documents) => documents.find(filter, options).toArray());
    await merge(
      found.map(({ _id }) => ({ _id, state: removedAt(position) })),
      applying,
    );
    if (found.length < maxRemoved) return;
  }
}
