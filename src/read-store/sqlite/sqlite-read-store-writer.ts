import type { ReadOfLog } from '#domain/shared/log-mark.ts';
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
import { openReadStoreFile, ReadStoreDamagedError, setAside } from './read-store-file.ts';
import { countPuts, type DocumentRow, type RowStore, rowCommit } from './row-commits.ts';
import { SqliteRowStore } from './sqlite-row-store.ts';
import { WriterThread } from './writer-thread.ts';

/** Number of documents in a fill after which a thread writes. A smaller fill ends sooner without it. */
const putsBeforeThread = 20_000;

export interface SqliteReadStoreWriterOptions {
  readonly putsBeforeThread?: number;
}

/**
 * While a large fill runs, a separate thread writes the file. A file that is damaged, of another program or of a newer
 * release is renamed and replaced by an empty one, and read models are rebuilt from the log.
 * @param warn gets a sentence for the log when that happens
 * @throws UnavailableError
 */
export function openSqliteReadStoreWriter(
  file: string,
  warn: (message: string) => void,
  options: SqliteReadStoreWriterOptions = {},
): ReadStoreWriter {
  return new SqliteReadStoreWriter(file, openRowStore(file, warn), options.putsBeforeThread ?? putsBeforeThread);
}

function openRowStore(file: string, warn: (message: string) => void): RowStore {
  try {
    return new SqliteRowStore(openReadStoreFile(file));
  } catch (error) {
    if (!(error instanceof ReadStoreDamagedError)) throw error;
    const aside = setAside(file);
    warn(`The read store is rebuilt: its file could not be read and is set aside as ${aside}. ${error.message}`);
    return new SqliteRowStore(openReadStoreFile(file));
  }
}

class SqliteReadStoreWriter implements ReadStoreWriter {
  readonly #file: string;
  readonly #putsBeforeThread: number;
  #rows: RowStore;
  #isThread = false;
  /** Number of documents since the current fill began. */
  #puts = 0;
  /** Settles when the file has another writer. */
  #handover: Promise<void> = Promise.resolve();

  constructor(file: string, rows: RowStore, threshold: number) {
    this.#file = file;
    this.#rows = rows;
    this.#putsBeforeThread = threshold;
  }

  generations(collection: string): Promise<CollectionGenerations> {
    return this.#use((rows) => rows.generations(collection));
  }

  async begin(definition: CollectionDefinition, begunAt: number): Promise<Generation> {
    const generation = await this.#use((rows) => rows.begin(definition, begunAt));
    await this.#startThreadIfDue();
    return generation;
  }

  async read(
    generation: Generation,
    ids: ReadonlyArray<string>,
    maxCharacters?: number,
  ): Promise<ReadonlyMap<string, FoldedDocument>> {
    const found = await this.#use((rows) => rows.read(generation, ids, maxCharacters));
    return new Map([...found].map(([id, row]) => [id, foldedDocument(row)]));
  }

  async commit(commits: ReadonlyArray<GenerationCommit>, more = false, read?: ReadOfLog): Promise<void> {
    const asRows = commits.map(rowCommit);
    await this.#use((rows) => {
      for (const commit of asRows) if (rows.filling.has(commit.generation.number)) this.#puts += countPuts(commit);
      return rows.commit(asRows, more, read);
    });
    await this.#startThreadIfDue();
  }

  finish(generation: Generation): Promise<void> {
    return this.#use((rows) => rows.finish(generation));
  }

  async publish(generation: Generation): Promise<void> {
    await this.#use((rows) => rows.publish(generation));
    if (this.#rows.filling.size > 0) return;
    this.#puts = 0;
    if (this.#isThread) await this.#handOver(() => this.#fromThread());
  }

  dropOthers(collections: ReadonlyArray<string>): Promise<void> {
    return this.#use((rows) => rows.dropOthers(collections));
  }

  readOfLog(): Promise<ReadOfLog> {
    return this.#use((rows) => rows.readOfLog());
  }

  operatorState(): Promise<OperatorState> {
    return this.#use((rows) => rows.operatorState());
  }

  saveOperatorState(state: OperatorState): Promise<void> {
    return this.#use((rows) => rows.saveOperatorState(state));
  }

  saveStatus(statuses: ReadonlyArray<ProjectionStatus>): Promise<void> {
    return this.#use((rows) => rows.saveStatus(statuses));
  }

  async close(): Promise<void> {
    await this.#handover.catch(() => undefined);
    await this.#rows.close();
  }

  /** Makes a call. The file does not change its writer before it is made. */
  async #use<Result>(call: (rows: RowStore) => Promise<Result>): Promise<Result> {
    let awaited: Promise<void> | null = null;
    while (awaited !== this.#handover) {
      awaited = this.#handover;
      await awaited;
    }
    return call(this.#rows);
  }

  async #startThreadIfDue(): Promise<void> {
    if (this.#isThread || this.#rows.filling.size === 0 || this.#puts < this.#putsBeforeThread) return;
    await this.#handOver(() => this.#toThread());
  }

  /** Changes the writer while other calls wait. After a failure the file has no writer, and every call fails. */
  #handOver(change: () => Promise<void>): Promise<void> {
    this.#handover = this.#handover.then(change);
    return this.#handover;
  }

  async #toThread(): Promise<void> {
    if (this.#isThread) return;
    const { filling } = this.#rows;
    await this.#rows.close();
    this.#rows = await WriterThread.start(this.#file, filling);
    this.#isThread = true;
  }

  async #fromThread(): Promise<void> {
    if (!this.#isThread) return;
    const thread = this.#rows;
    // This connection opens before the thread closes its own, because the last connection that closes copies the whole
    // write-ahead log.
    this.#rows = new SqliteRowStore(openReadStoreFile(this.#file));
    this.#isThread = false;
    await thread.close();
  }
}

function foldedDocument({ order, position, body }: DocumentRow): FoldedDocument {
  return { order, position, value: JSON.parse(body), bytes: body.length };
}
