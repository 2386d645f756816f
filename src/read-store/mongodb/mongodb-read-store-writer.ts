import { Long, MongoServerError } from 'mongodb';
import type { ReadOfLog } from '#domain/shared/log-mark.ts';
import { MongoDbConnection, type MongoDbConnectionOptions } from '#mongodb/mongodb-connection.ts';
import { repeatCall } from '#mongodb/reconnecting-client.ts';
import { ReadStoreNotes } from '#read-store/notes.ts';
import type { Checkpoints, PositionsWriter, ProjectionPositions } from '#read-store/published-positions.ts';
import type {
  CollectionDefinition,
  CollectionGenerations,
  DocumentWrite,
  FoldedDocument,
  Generation,
  GenerationCommit,
  OperatorState,
  ProjectionStatus,
  ReadStoreWriter,
} from '#read-store/read-store.ts';
import type { RecordStore } from '#records/record-store.ts';
import { allSettled } from '#shared/async/all-settled.ts';
import { clock } from '#shared/clock.ts';
import { applyWrites, forgetRemoved } from './document-writes.ts';
import { FencedRecords } from './fenced-records.ts';
import {
  collectionGenerations,
  generationPath,
  generationsOf,
  type ReadModelRecord,
  type StoredGeneration,
} from './read-model-record.ts';
import {
  type DocumentRecord,
  documentsName,
  foldedDocument,
  holdsDocuments,
  indexDescriptions,
} from './stored-document.ts';

const defaultTimeoutMs = 10_000;
/**
 * How long the writer relies on the last check that no other node has taken over: for this time, or for this multiple of
 * the time of the check, because a term lasts as long on a slow store. Even a late write to documents does no harm.
 */
const leaseTrustedMs = 1000;
const trustedChecks = 3;
const maxLeaseTrustedMs = 10_000;
/** The most generations that are stored at the same time. With the calls of each, FerretDB has connections for them. */
const commitsTogether = 6;
/** The most ids that one call reads. */
const maxIds = 1000;
const forgetAfterMs = 60 * 60 * 1000;
/**
 * How long a replaced generation stays after the publication, or after a takeover. A node that knows nothing of the
 * publication for a third of this time asks which generation is current (`MongoDbReadStore`).
 */
const keepReplacedMs = 60_000;
const namespaceNotFound = 26;

export type MongoDbReadStoreWriterOptions = MongoDbConnectionOptions & {
  /**
   * The fencing token of the writer's lease. Each holder of the lease has a larger one. Default 0, for a single
   * writer. When the store has seen a newer token, it refuses this writer with `FencedError`.
   */
  readonly fence?: number;
  /** The records with the notes of the read store. Their owner closes them after the writer. */
  readonly records: RecordStore;
  /** Ends the repetition of failed calls. */
  readonly signal?: AbortSignal;
  /** How long replaced generations stay, in milliseconds. Default 60,000. */
  readonly keepReplacedMs?: number;
};

/** Opens the writing side of a read store on MongoDB. It connects at the first call. */
export function openMongoDbReadStoreWriter(options: MongoDbReadStoreWriterOptions): ReadStoreWriter & PositionsWriter {
  return new MongoDbReadStoreWriter(new MongoDbConnection({ timeoutMs: defaultTimeoutMs, ...options }), options);
}

/** What the writer remembers of a generation. */
interface GenerationProgress {
  readonly generation: Pick<Generation, 'name' | 'number'>;
  /** The position up to which its documents are stored. */
  storedUpTo: number;
  forgetAt: number;
}

/** A generation that another one has replaced, and when its documents are dropped. */
interface ReplacedGeneration {
  readonly generation: Pick<Generation, 'name' | 'number'>;
  readonly dropAt: number;
}

/**
 * Writes in two steps. `commit` stores documents, and `savePositions` one record with the checkpoints of all
 * generations. After a crash between the two, the events after the checkpoints are folded again, which changes nothing
 * in documents that include them.
 */
class MongoDbReadStoreWriter implements ReadStoreWriter, PositionsWriter {
  readonly #connection: MongoDbConnection;
  readonly #notes: ReadStoreNotes;
  readonly #records: FencedRecords;
  readonly #signal: AbortSignal | undefined;
  readonly #keepReplacedMs: number;
  /** The existing generations, by the names of their documents. */
  readonly #tracking = new Map<string, GenerationProgress>();
  readonly #replaced = new Map<string, ReplacedGeneration>();
  /** The stored checkpoints of read models whose generations this writer has not read yet. */
  #inherited: Checkpoints = {};
  #opening: Promise<void> | null = null;
  /** Records that were taken over together, until the first `generations` of each. */
  #takenOver: Promise<Map<string, ReadModelRecord<number>>> | null = null;
  /** When the last check found that no other node has taken over. */
  #heldAt = Number.NEGATIVE_INFINITY;
  #trustedMs = leaseTrustedMs;

  constructor(connection: MongoDbConnection, options: MongoDbReadStoreWriterOptions) {
    const { records, fence = 0, signal } = options;
    this.#connection = connection;
    this.#notes = new ReadStoreNotes(records, fence);
    this.#records = new FencedRecords(connection, fence);
    this.#signal = signal;
    this.#keepReplacedMs = options.keepReplacedMs ?? keepReplacedMs;
  }

  /** Takes the read model over: from now on a writer with an older token is refused. @throws FencedError */
  async generations(collection: string): Promise<CollectionGenerations> {
    const [record] = await Promise.all([this.#takeOver(collection), this.#open()]);
    this.#track(collection, generationsOf(record, this.#inherited[collection] ?? {}));
    return collectionGenerations(record, this.#checkpoints()[collection] ?? {});
  }

  async begin({ name, version, indexes }: CollectionDefinition, begunAt: number): Promise<Generation> {
    await this.#open();
    await this.#records.add(name);
    const record = await this.#records.takeOver(name);
    const before = generationsOf(record, {});
    const number = (record?.last ?? 0) + 1;
    const dropped = before.filter(({ complete }) => !complete);
    await this.#records.change(name, {
      $set: {
        last: number,
        ...(dropped.length === before.length ? { current: number } : {}),
        [generationPath(number)]: {
          version,
          indexes: JSON.stringify(indexes),
          begunAt: Long.fromNumber(begunAt),
          complete: false,
          replaced: false,
        },
      },
      ...unset(dropped),
    });
    const generation = { name, version, indexes, number, begunAt, complete: false, checkpoint: 0 };
    // The collection follows its record. A collection without a record is a leftover and is dropped.
    await this.finish(generation);
    for (const one of dropped) await this.#drop(one);
    const forgetAt = clock.now() + forgetAfterMs;
    this.#tracking.set(documentsName(generation), { generation, storedUpTo: 0, forgetAt });
    return generation;
  }

  async read(generation: Generation, ids: ReadonlyArray<string>): Promise<ReadonlyMap<string, FoldedDocument>> {
    const documents = new Map<string, FoldedDocument>();
    for (let start = 0; start < ids.length; start += maxIds) {
      const some = ids.slice(start, start + maxIds);
      const [id = ''] = some;
      const found = await this.#repeat(() =>
        this.#connection.call((database) =>
          database
            .collection<DocumentRecord<number>>(documentsName(generation))
            // FerretDB finds a single one by its index.
            .find({ _id: some.length === 1 ? id : { $in: some } }, { batchSize: maxIds })
            .toArray(),
        ),
      );
      for (const document of found) documents.set(document._id, foldedDocument(document));
    }
    return documents;
  }

  async commit(commits: ReadonlyArray<GenerationCommit>): Promise<void> {
    await this.#open();
    for (const together of inPhases(commits)) await this.#storeTogether(together);
    for (const { generation, checkpoint } of commits) {
      const tracking = await this.#existing(generation);
      tracking.storedUpTo = Math.max(tracking.storedUpTo, checkpoint);
    }
    await this.#forgetWhenDue(commits);
  }

  async finish(generation: Generation): Promise<void> {
    // One by one: FerretDB drops the connection when several of the requested indexes exist already.
    for (const { key } of indexDescriptions(generation.indexes)) {
      await this.#connection.call((database) => database.collection(documentsName(generation)).createIndex(key));
    }
  }

  async publish(generation: Generation): Promise<void> {
    const { name, number } = generation;
    const stored = generationsOf(await this.#records.get(name), {});
    const before = stored.filter((one) => one.number < number && !one.replaced);
    const marks = before.map((one) => [`${generationPath(one.number)}.replaced`, true] as const);
    const published = { current: number, [`${generationPath(number)}.complete`]: true };
    await this.#records.change(name, { $set: { ...published, ...Object.fromEntries(marks) } }, number);
    for (const one of before) this.#dropLater(one);
  }

  async dropOthers(collections: ReadonlyArray<string>): Promise<void> {
    // The takeover, which the next call waits for, begins meanwhile.
    const [taken] = await Promise.all([this.#allTakenOver(), this.#open(), this.#dropOthers(collections)]);
    for (const name of taken.keys()) if (!collections.includes(name)) taken.delete(name);
  }

  readOfLog(): Promise<ReadOfLog> {
    return this.#notes.readOfLog();
  }

  operatorState(): Promise<OperatorState> {
    return this.#notes.operatorState();
  }

  saveOperatorState(state: OperatorState): Promise<void> {
    return this.#notes.saveOperatorState(state);
  }

  async savePositions(positions: ProjectionPositions): Promise<void> {
    await this.#open();
    for (const { name, generation: number, position } of positions.projections) {
      const tracking = this.#tracking.get(documentsName({ name, number }));
      if (tracking !== undefined) tracking.storedUpTo = Math.max(tracking.storedUpTo, position);
    }
    await this.#repeat(async () => {
      const sentAt = clock.now();
      await this.#notes.savePositions(positions, this.#checkpoints());
      this.#isHeldAt(sentAt);
    });
    await this.#dropReplaced();
  }

  saveStatus(statuses: ReadonlyArray<ProjectionStatus>): Promise<void> {
    return this.#notes.saveStatus(statuses);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** Reads the checkpoints, after which no older writer can change them. */
  #open(): Promise<void> {
    this.#opening ??= this.#inherit().catch((error: unknown) => {
      this.#opening = null;
      throw error;
    });
    return this.#opening;
  }

  async #inherit(): Promise<void> {
    await this.#notes.takeOver();
    this.#inherited = await this.#notes.checkpoints();
  }

  /** Takes a record over. The first call takes all over together, because a takeover needs every one. */
  async #takeOver(name: string): Promise<ReadModelRecord<number> | null> {
    const all = await this.#allTakenOver();
    const record = all.get(name);
    if (record === undefined) return this.#records.takeOver(name);
    all.delete(name);
    return record;
  }

  #allTakenOver(): Promise<Map<string, ReadModelRecord<number>>> {
    this.#takenOver ??= this.#takeOverAll();
    return this.#takenOver;
  }

  async #takeOverAll(): Promise<Map<string, ReadModelRecord<number>>> {
    const askedAt = clock.now();
    try {
      const records = await this.#records.takeOverAll();
      this.#isHeldAt(askedAt);
      return new Map(records.map((record) => [record._id, record]));
    } catch (error) {
      this.#takenOver = null;
      throw error;
    }
  }

  #track(name: string, stored: ReadonlyArray<StoredGeneration>): void {
    const existing = new Set(stored.map(documentsName));
    for (const [key, { generation }] of this.#tracking)
      if (generation.name === name && !existing.has(key)) this.#tracking.delete(key);
    for (const one of stored) {
      const tracking = this.#trackingOf(one);
      tracking.storedUpTo = Math.max(tracking.storedUpTo, one.checkpoint);
      if (one.replaced && !this.#replaced.has(documentsName(one))) this.#dropLater(one);
    }
    const { [name]: _, ...others } = this.#inherited;
    this.#inherited = others;
  }

  async #dropOthers(collections: ReadonlyArray<string>): Promise<void> {
    // The collections are listed before the records are read, because a generation's record exists before its
    // collection.
    const [stored] = await Promise.all([this.#connection.collectionNames(), this.#records.removeOthers(collections)]);
    const records = await this.#records.all();
    const known = new Set(records.flatMap((record) => generationsOf(record, {})).map(documentsName));
    for (const name of stored) if (holdsDocuments(name) && !known.has(name)) await this.#dropCollection(name);
  }

  async #storeTogether(commits: ReadonlyArray<GenerationCommit>): Promise<void> {
    const left = commits.values();
    const storeLeft = async () => {
      for (const commit of left) await this.#storeOne(commit);
    };
    await allSettled(Array.from({ length: Math.min(commitsTogether, commits.length) }, storeLeft));
  }

  async #storeOne({ generation, writes }: GenerationCommit): Promise<void> {
    const { storedUpTo } = await this.#existing(generation);
    const repeat = <Result>(call: () => Promise<Result>) =>
      this.#repeat(async () => {
        await this.#assertHeld(generation);
        return call();
      });
    await applyWrites(writes, { connection: this.#connection, generation, storedUpTo, repeat });
  }

  /** @throws FencedError if the generation was dropped */
  async #existing(generation: Generation): Promise<GenerationProgress> {
    const known = this.#tracking.get(documentsName(generation));
    if (known !== undefined) return known;
    await this.#repeat(() => this.#assertExists(generation));
    return this.#trackingOf(generation);
  }

  /** Forgets removals of one generation at a time, so that no commit waits for more than one. */
  async #forgetWhenDue(commits: ReadonlyArray<GenerationCommit>): Promise<void> {
    const now = clock.now();
    for (const { generation } of commits) {
      const tracking = this.#trackingOf(generation);
      if (tracking.forgetAt > now) continue;
      const more = await forgetRemoved(this.#connection, generation);
      if (!more) tracking.forgetAt = now + forgetAfterMs;
      return;
    }
  }

  async #assertHeld(generation: Generation): Promise<void> {
    if (clock.now() - this.#heldAt >= this.#trustedMs) await this.#assertExists(generation);
  }

  /** @throws FencedError if another node has taken over, or if the generation was dropped */
  async #assertExists({ name, number }: Generation): Promise<void> {
    const askedAt = clock.now();
    const stored = generationsOf(await this.#records.read(name), {});
    if (!stored.some((one) => one.number === number)) throw this.#records.superseded(name);
    this.#isHeldAt(askedAt);
  }

  /** Notes a check that has just found that no other node had taken over. */
  #isHeldAt(askedAt: number): void {
    this.#heldAt = askedAt;
    const checkMs = clock.now() - askedAt;
    this.#trustedMs = Math.min(maxLeaseTrustedMs, Math.max(leaseTrustedMs, trustedChecks * checkMs));
  }

  #checkpoints(): Checkpoints {
    const checkpoints: Record<string, Record<string, number>> = { ...this.#inherited };
    for (const { generation, storedUpTo } of this.#tracking.values())
      checkpoints[generation.name] = { ...checkpoints[generation.name], [generation.number]: storedUpTo };
    return checkpoints;
  }

  #dropLater(generation: Pick<Generation, 'name' | 'number'>): void {
    this.#replaced.set(documentsName(generation), { generation, dropAt: clock.now() + this.#keepReplacedMs });
  }

  /** Drops a replaced generation whose time is over; one at a time, so that positions do not wait long. */
  async #dropReplaced(): Promise<void> {
    const now = clock.now();
    const due = [...this.#replaced].find(([, { dropAt }]) => dropAt <= now);
    if (due === undefined) return;
    const [key, { generation }] = due;
    await this.#records.change(generation.name, unset([generation]));
    await this.#drop(generation);
    this.#replaced.delete(key);
  }

  async #drop(generation: Pick<Generation, 'name' | 'number'>): Promise<void> {
    this.#tracking.delete(documentsName(generation));
    await this.#dropCollection(documentsName(generation));
  }

  async #dropCollection(collection: string): Promise<void> {
    await this.#connection.call(async (database) => {
      try {
        await database.dropCollection(collection);
      } catch (error) {
        // Servers before 7.0 answer so if the collection does not exist.
        if (!(error instanceof MongoServerError && error.code === namespaceNotFound)) throw error;
      }
    });
  }

  #trackingOf(generation: Pick<Generation, 'name' | 'number'>): GenerationProgress {
    const key = documentsName(generation);
    const known = this.#tracking.get(key);
    if (known !== undefined) return known;
    const tracking = { generation, storedUpTo: 0, forgetAt: 0 };
    this.#tracking.set(key, tracking);
    return tracking;
  }

  #repeat<Result>(call: () => Promise<Result>): Promise<Result> {
    return repeatCall(call, this.#signal);
  }
}

/**
 * Divides commits into groups that are stored one after the other. A document whose revision is the ETag of others is
 * stored after them, and removed before them, so that queries never find a newer ETag or a part of what is removed.
 */
function inPhases(commits: ReadonlyArray<GenerationCommit>): ReadonlyArray<ReadonlyArray<GenerationCommit>> {
  const isRemoval = ({ kind }: DocumentWrite) => kind === 'delete';
  const heads = commits.filter(({ holdsETags }) => holdsETags === true);
  const removals = heads.map((commit) => ({ ...commit, writes: commit.writes.filter(isRemoval) }));
  const puts = heads.map((commit) => ({ ...commit, writes: commit.writes.filter((write) => !isRemoval(write)) }));
  const others = commits.filter(({ holdsETags }) => holdsETags !== true);
  return [removals, others, puts].map((phase) => phase.filter(({ writes }) => writes.length > 0));
}

function unset(generations: ReadonlyArray<Pick<Generation, 'number'>>): Readonly<Record<string, object>> {
  if (generations.length === 0) return {};
  return { $unset: Object.fromEntries(generations.map(({ number }) => [generationPath(number), ''] as const)) };
}
