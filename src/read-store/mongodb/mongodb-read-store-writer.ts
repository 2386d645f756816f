import type { ReadOfLog } from '#domain/shared/log-mark.ts';
import { MongoDbConnection, type MongoDbConnectionOptions } from '#mongodb/mongodb-connection.ts';
import { repeatCall } from '#mongodb/reconnecting-client.ts';
import { ReadStoreNotes } from '#read-store/notes.ts';
import type { PositionsWriter, ProjectionPositions } from '#read-store/published-positions.ts';
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
import { applyWrites, forgetAfterMs, forgetRemoved } from './document-writes.ts';
import { FencedRecords } from './fenced-records.ts';
import { ReadModelGenerations } from './read-model-generations.ts';
import { type DocumentRecord, documentsName, foldedDocument } from './stored-document.ts';

const defaultTimeoutMs = 10_000;
/** Number of commits at the same time. With the calls of each generation, FerretDB has connections for them. */
const commitsTogether = 6;
const maxIds = 1000;

export type MongoDbReadStoreWriterOptions = MongoDbConnectionOptions & {
  /**
   * The token of the writer's lease. Each holder of the lease has a larger one. Default 0, for a single writer. When
   * the store has seen a newer token, it refuses this writer with `FencedError`.
   */
  readonly fence?: number;
  /** The records with the notes of the read store. Their owner closes them after the writer. */
  readonly records: RecordStore;
  readonly signal?: AbortSignal;
  /** How long a replaced generation is kept. Default 60,000. */
  readonly keepReplacedMs?: number;
};

/** It connects at the first call. */
export function openMongoDbReadStoreWriter(options: MongoDbReadStoreWriterOptions): ReadStoreWriter & PositionsWriter {
  return new MongoDbReadStoreWriter(new MongoDbConnection({ timeoutMs: defaultTimeoutMs, ...options }), options);
}

/**
 * Writes in two steps. `commit` stores documents, and `savePositions` one record with the checkpoints of all
 * generations. After a crash between the two, the events after the checkpoints are folded again, which changes nothing
 * in documents that include them.
 */
class MongoDbReadStoreWriter implements ReadStoreWriter, PositionsWriter {
  readonly #connection: MongoDbConnection;
  readonly #notes: ReadStoreNotes;
  readonly #generations: ReadModelGenerations;
  readonly #signal: AbortSignal | undefined;

  constructor(connection: MongoDbConnection, options: MongoDbReadStoreWriterOptions) {
    const { fence = 0, signal, keepReplacedMs } = options;
    this.#connection = connection;
    this.#signal = signal;
    this.#notes = new ReadStoreNotes(options.records, fence);
    const records = new FencedRecords(connection, fence);
    this.#generations = new ReadModelGenerations({ connection, notes: this.#notes, records, signal, keepReplacedMs });
  }

  generations(collection: string): Promise<CollectionGenerations> {
    return this.#generations.takeOver(collection);
  }

  begin(definition: CollectionDefinition, begunAt: number): Promise<Generation> {
    return this.#generations.begin(definition, begunAt);
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
    await this.#generations.open();
    for (const together of inPhases(commits)) await this.#storeTogether(together);
    for (const { generation, checkpoint } of commits) {
      const progress = await this.#generations.progressOf(generation);
      progress.storedUpTo = Math.max(progress.storedUpTo, checkpoint);
    }
    await this.#forgetWhenDue(commits);
  }

  finish(generation: Generation): Promise<void> {
    return this.#generations.finish(generation);
  }

  publish(generation: Generation): Promise<void> {
    return this.#generations.publish(generation);
  }

  dropOthers(collections: ReadonlyArray<string>): Promise<void> {
    return this.#generations.dropOthers(collections);
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

  savePositions(positions: ProjectionPositions): Promise<void> {
    return this.#generations.savePositions(positions);
  }

  saveStatus(statuses: ReadonlyArray<ProjectionStatus>): Promise<void> {
    return this.#notes.saveStatus(statuses);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #storeTogether(commits: ReadonlyArray<GenerationCommit>): Promise<void> {
    const left = commits.values();
    const storeLeft = async () => {
      for (const commit of left) await this.#storeOne(commit);
    };
    await allSettled(Array.from({ length: Math.min(commitsTogether, commits.length) }, storeLeft));
  }

  async #storeOne({ generation, writes }: GenerationCommit): Promise<void> {
    const { storedUpTo } = await this.#generations.progressOf(generation);
    const repeat = <Result>(call: () => Promise<Result>) =>
      this.#repeat(async () => {
        await this.#generations.assertHeld(generation);
        return call();
      });
    await applyWrites(writes, { connection: this.#connection, generation, storedUpTo, repeat });
  }

  /** Forgets for one generation at a time, so that no commit waits for more than one. */
  async #forgetWhenDue(commits: ReadonlyArray<GenerationCommit>): Promise<void> {
    const now = clock.now();
    for (const { generation } of commits) {
      const progress = await this.#generations.progressOf(generation);
      if (progress.forgetAt > now) continue;
      const more = await forgetRemoved(this.#connection, generation);
      if (!more) progress.forgetAt = now + forgetAfterMs;
      return;
    }
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
