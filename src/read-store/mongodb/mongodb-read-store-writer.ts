import { Long, MongoServerError } from 'mongodb';
import { MongoDbConnection, type MongoDbConnectionOptions } from '#mongodb/mongodb-connection.ts';
import { ReadStoreNotes } from '#read-store/notes.ts';
import type { PositionsWriter, ProjectionPositions } from '#read-store/published-positions.ts';
import type {
  CollectionDefinition,
  CollectionGenerations,
  FoldedDocument,
  Generation,
  GenerationCommit,
  OperatorState,
  ProjectionStatus,
  ReadStoreWriter,
} from '#read-store/read-store.ts';
import type { RecordStore } from '#records/record-store.ts';
import { allSettled } from '#shared/async/all-settled.ts';
import { applyWrites, forgetRemoved } from './document-writes.ts';
import { FencedRecords } from './fenced-records.ts';
import { collectionGenerations, generationPath, generationsOf } from './read-model-record.ts';
import {
  type DocumentRecord,
  documentsName,
  foldedDocument,
  generationOf,
  indexDescriptions,
} from './stored-document.ts';

const defaultTimeoutMs = 10_000;
/**
 * How long the writer relies on the last check that no other node has taken over. Even a late write to documents does
 * no harm.
 */
const leaseTrustedMs = 1000;
/** The most generations that are stored at the same time. */
const commitsTogether = 4;
/** The most ids that one call reads. */
const maxIds = 1000;
const forgetAfterMs = 60 * 60 * 1000;
const namespaceNotFound = 26;
const countersName = 'counters';

export type MongoDbReadStoreWriterOptions = MongoDbConnectionOptions & {
  /**
   * The fencing token of the writer's lease. Each holder of the lease has a larger one. Default 0, for a single
   * writer. When the store has seen a newer token, it refuses this writer with `FencedError`.
   */
  readonly fence?: number;
  /** The records with the notes of the read store. Their owner closes them after the writer. */
  readonly records: RecordStore;
};

/** Opens the writing side of a read store on MongoDB. It connects at the first call. */
export function openMongoDbReadStoreWriter(options: MongoDbReadStoreWriterOptions): ReadStoreWriter & PositionsWriter {
  const { fence = 0, records, ...connection } = options;
  const notes = new ReadStoreNotes(records, fence);
  return new MongoDbReadStoreWriter(
    new MongoDbConnection({ timeoutMs: defaultTimeoutMs, ...connection }),
    fence,
    notes,
  );
}

/** What the writer remembers of a generation that it stores to. */
interface GenerationProgress {
  storedUpTo: number;
  /** When the last check found that no other node has taken over. */
  heldAt: number;
  forgetAt: number;
}

class MongoDbReadStoreWriter implements ReadStoreWriter, PositionsWriter {
  readonly #connection: MongoDbConnection;
  readonly #notes: ReadStoreNotes;
  readonly #records: FencedRecords;
  readonly #tracking = new Map<number, GenerationProgress>();

  constructor(connection: MongoDbConnection, fence: number, notes: ReadStoreNotes) {
    this.#connection = connection;
    this.#notes = notes;
    this.#records = new FencedRecords(connection, fence);
  }

  /** Takes the read model over: from now on a writer with an older token is refused. @throws FencedError */
  async generations(collection: string): Promise<CollectionGenerations> {
    return collectionGenerations(await this.#records.takeOver(collection));
  }

  async begin({ name, version, indexes }: CollectionDefinition, begunAt: number): Promise<Generation> {
    await this.#records.add(name);
    const before = generationsOf(await this.#records.takeOver(name));
    const number = await this.#nextNumber();
    const dropped = before.filter(({ complete }) => !complete);
    await this.#records.change(name, {
      $set: {
        ...(dropped.length === before.length ? { current: number } : {}),
        [generationPath(number)]: {
          version,
          indexes: JSON.stringify(indexes),
          begunAt: Long.fromNumber(begunAt),
          complete: false,
          checkpoint: Long.fromNumber(0),
        },
      },
      ...unset(dropped),
    });
    const generation = { name, version, indexes, number, begunAt, complete: false, checkpoint: 0 };
    // The collection follows its record. A collection without a record is a leftover and is dropped.
    await this.finish(generation);
    for (const one of dropped) await this.#drop(one.number);
    const now = performance.now();
    this.#tracking.set(number, { storedUpTo: 0, heldAt: now, forgetAt: now + forgetAfterMs });
    return generation;
  }

  async read(generation: Generation, ids: ReadonlyArray<string>): Promise<ReadonlyMap<string, FoldedDocument>> {
    const documents = new Map<string, FoldedDocument>();
    for (let start = 0; start < ids.length; start += maxIds) {
      const some = ids.slice(start, start + maxIds);
      const found = await this.#connection.call((database) =>
        database
          .collection<DocumentRecord<number>>(documentsName(generation.number))
          .find({ _id: { $in: some } }, { batchSize: maxIds })
          .toArray(),
      );
      for (const document of found) documents.set(document._id, foldedDocument(document));
    }
    return documents;
  }

  async commit(commits: ReadonlyArray<GenerationCommit>): Promise<void> {
    for (let start = 0; start < commits.length; start += commitsTogether) {
      const together = commits.slice(start, start + commitsTogether);
      await allSettled(together.map((commit) => this.#commitOne(commit)));
    }
  }

  async finish({ number, indexes }: Generation): Promise<void> {
    // One by one: FerretDB drops the connection when several of the requested indexes exist already.
    for (const { key } of indexDescriptions(indexes)) {
      await this.#connection.call((database) => database.collection(documentsName(number)).createIndex(key));
    }
  }

  async publish({ name, number }: Generation): Promise<void> {
    const before = generationsOf(await this.#records.get(name)).filter((one) => one.number < number);
    await this.#records.change(
      name,
      { $set: { current: number, [`${generationPath(number)}.complete`]: true }, ...unset(before) },
      number,
    );
    for (const one of before) await this.#drop(one.number);
  }

  async dropOthers(collections: ReadonlyArray<string>): Promise<void> {
    await this.#records.removeOthers(collections);
    // The collections are listed before the records are read, because a generation's record exists before its
    // collection.
    const stored = await this.#connection.call((database) =>
      database.listCollections({}, { nameOnly: true }).toArray(),
    );
    const records = await this.#records.all();
    const known = new Set(records.flatMap((record) => generationsOf(record)).map(({ number }) => number));
    for (const { name } of stored) {
      const number = generationOf(name);
      if (number !== null && !known.has(number)) await this.#drop(number);
    }
  }

  operatorState(): Promise<OperatorState> {
    return this.#notes.operatorState();
  }

  saveOperatorState(state: OperatorState): Promise<void> {
    return this.#notes.saveOperatorState(state);
  }

  savePositions(positions: ProjectionPositions): Promise<void> {
    return this.#notes.savePositions(positions);
  }

  saveStatus(statuses: ReadonlyArray<ProjectionStatus>): Promise<void> {
    return this.#notes.saveStatus(statuses);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #commitOne({ generation, writes, checkpoint }: GenerationCommit): Promise<void> {
    const tracking = this.#trackingOf(generation);
    const { storedUpTo } = tracking;
    const beforeCall = () => this.#assertHeld(generation, tracking);
    await applyWrites(writes, { connection: this.#connection, generation, storedUpTo, beforeCall });
    await this.#records.change(
      generation.name,
      { $max: { [`${generationPath(generation.number)}.checkpoint`]: Long.fromNumber(checkpoint) } },
      generation.number,
    );
    tracking.heldAt = performance.now();
    tracking.storedUpTo = checkpoint;
    await this.#forgetWhenDue(generation, tracking);
  }

  async #forgetWhenDue(generation: Generation, tracking: GenerationProgress): Promise<void> {
    if (performance.now() < tracking.forgetAt) return;
    const more = await forgetRemoved(this.#connection, generation);
    if (!more) tracking.forgetAt = performance.now() + forgetAfterMs;
  }

  async #assertHeld(generation: Generation, tracking: GenerationProgress): Promise<void> {
    const now = performance.now();
    if (now - tracking.heldAt < leaseTrustedMs) return;
    const record = await this.#records.read(generation.name);
    if (!generationsOf(record).some(({ number }) => number === generation.number))
      throw this.#records.superseded(generation.name);
    tracking.heldAt = now;
  }

  async #nextNumber(): Promise<number> {
    const counter = await this.#connection.call((database) =>
      database
        .collection<{ readonly _id: string; readonly value: number }>(countersName)
        .findOneAndUpdate({ _id: 'generation' }, { $inc: { value: 1 } }, { upsert: true, returnDocument: 'after' }),
    );
    if (counter === null) throw new Error('The counter of generations was not made.');
    return counter.value;
  }

  async #drop(number: number): Promise<void> {
    this.#tracking.delete(number);
    await this.#connection.call(async (database) => {
      try {
        await database.dropCollection(documentsName(number));
      } catch (error) {
        // Servers before 7.0 answer so if the collection does not exist.
        if (!(error instanceof MongoServerError && error.code === namespaceNotFound)) throw error;
      }
    });
  }

  #trackingOf(generation: Generation): GenerationProgress {
    const known = this.#tracking.get(generation.number);
    if (known !== undefined) return known;
    // Entries of generations that other nodes have dropped would never be removed.
    if (this.#tracking.size >= 1000) this.#tracking.clear();
    const tracking = { storedUpTo: generation.checkpoint, heldAt: -Infinity, forgetAt: 0 };
    this.#tracking.set(generation.number, tracking);
    return tracking;
  }
}

function unset(generations: ReadonlyArray<Generation>): Readonly<Record<string, object>> {
  if (generations.length === 0) return {};
  return { $unset: Object.fromEntries(generations.map(({ number }) => [generationPath(number), ''] as const)) };
}
