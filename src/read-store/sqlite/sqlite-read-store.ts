import { statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import type {
  DocumentPage,
  DocumentValue,
  Indexes,
  OperatorState,
  PageRequest,
  ProjectionStatus,
  ReadStore,
  UnknownEventType,
  Where,
} from '#read-store/read-store.ts';
import { StoredDocument } from '#read-store/stored-document.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import * as table from './document-table.ts';
import { guarded, ReadStoreDamagedError } from './read-store-file.ts';

/** Time between two checks of the file, because the writer may have replaced it. */
const fileCheckIntervalMs = 1000;

/** Maximum number of prepared statements for lists. The declared indexes bound their number too. */
const maxListStatements = 200;

/**
 * Opens the file at the first call, and again when the writer has begun a new file.
 * @param file the path that its writer has
 */
export function openSqliteReadStore(file: string, options: SqliteReadStoreOptions = {}): ReadStore {
  const cache = options.onCommit === undefined ? null : new DocumentCache();
  options.onCommit?.(() => cache?.clear());
  return new SqliteReadStore(file, cache);
}

export interface SqliteReadStoreOptions {
  /**
   * Registers a listener that is called after each commit of the writer, before any wait for that commit ends. With
   * it, documents can be cached between commits.
   */
  readonly onCommit?: (listener: () => void) => void;
}

/** The current generation, which is valid as long as the store's pointer names it. */
interface CurrentGeneration {
  readonly collection: number;
  readonly generation: number;
  readonly indexes: Indexes;
  readonly get: StatementSync;
  readonly lists: Map<string, StatementSync>;
}

interface OpenFile {
  readonly database: DatabaseSync;
  readonly inode: number;
  readonly pointer: StatementSync;
  readonly current: Map<string, CurrentGeneration>;
}

/** A row that was found. `ord` is null if there is no such document. */
interface FoundRow {
  readonly generation: number;
  readonly ord: number | null;
  readonly position: number;
  readonly body: string;
}

interface ListRow {
  readonly id: string;
  readonly ord: number;
  readonly position: number;
  readonly body: string;
}

class SqliteReadStore implements ReadStore {
  readonly #file: string;
  readonly #cache: DocumentCache | null;
  #open: OpenFile | null = null;
  #checkedAt = 0;
  #closed = false;

  constructor(file: string, cache: DocumentCache | null) {
    this.#file = file;
    this.#cache = cache;
  }

  async get<Value extends DocumentValue>(
    collection: string,
    id: string,
    fresh?: 'fresh',
  ): Promise<StoredDocument<Value> | null> {
    const known = fresh === undefined ? this.#cache?.get<Value>(collection, id) : undefined;
    if (known !== undefined && !this.#closed) return known;
    return this.#reading((open) => this.#get(open, collection, id));
  }

  async list<Value extends DocumentValue>(
    collection: string,
    where: Where,
    page: PageRequest,
  ): Promise<DocumentPage<Value>> {
    return this.#reading((open) => this.#list(open, collection, where, page));
  }

  async count(collection: string, where: Where, limit: number): Promise<number> {
    return this.#reading((open) => {
      const { generation, indexes } = this.#findCurrent(open, collection);
      const conditions = ['TRUE', ...table.whereConditions(indexes, where)].join(' AND ');
      const found = `SELECT 1 FROM ${table.tableName(generation)} WHERE ${conditions} LIMIT ?`;
      const counting = open.database.prepare(`SELECT count(*) AS count FROM (${found})`);
      return Number(counting.get(...table.whereValues(indexes, where), limit)?.count);
    });
  }

  async status(): Promise<ReadonlyArray<ProjectionStatus>> {
    return this.#reading(({ database }) => {
      const row = database.prepare("SELECT body FROM note WHERE name = 'status'").get();
      return row === undefined ? [] : JSON.parse(String(row.body));
    });
  }

  async unknownEvents(): Promise<ReadonlyArray<UnknownEventType>> {
    return this.#reading(({ database }) => {
      const row = database.prepare("SELECT body FROM note WHERE name = 'operator-state'").get();
      const state: OperatorState | null = row === undefined ? null : JSON.parse(String(row.body));
      return state?.unknownEvents?.types ?? [];
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#closeFile();
  }

  #get<Value extends DocumentValue>(
    open: OpenFile,
    collection: string,
    id: string,
    current = open.current.get(collection) ?? this.#findCurrent(open, collection),
  ): StoredDocument<Value> | null {
    // One statement reads the pointer and the document, so that no old document is returned after a swap.
    const row = current.get.get(id, current.collection) as unknown as FoundRow;
    if (row?.generation !== current.generation)
      return this.#get(open, collection, id, this.#findCurrent(open, collection));
    if (row.ord === null) return null;
    const document = new StoredDocument<Value>(id, row.ord, row.body, row.position);
    this.#cache?.keep(collection, document);
    return document;
  }

  #list<Value extends DocumentValue>(
    open: OpenFile,
    collection: string,
    where: Where,
    page: PageRequest,
  ): DocumentPage<Value> {
    const current = this.#findCurrent(open, collection);
    const documents: StoredDocument<Value>[] = [];
    let bytes = 0;
    const after =
      page.after ?? (page.newestFirst === true ? { order: Number.MAX_SAFE_INTEGER, id: '' } : { order: -1, id: '' });
    const values = [...table.whereValues(current.indexes, where), after.order, after.id, page.limit + 1];
    for (const row of listStatement(open, current, where, page.newestFirst === true).iterate(
      ...values,
    ) as Iterable<unknown> as Iterable<ListRow>) {
      bytes += Buffer.byteLength(row.body);
      const last = documents.at(-1);
      if (last !== undefined && (documents.length === page.limit || bytes > page.maxBytes)) {
        return { documents, next: { order: last.order, id: last.id } };
      }
      documents.push(new StoredDocument(row.id, row.ord, row.body, row.position));
    }
    return { documents, next: null };
  }

  /**
   * Finds the generation that the store's pointer names now.
   * @throws UnavailableError if the collection has no generation
   */
  #findCurrent(open: OpenFile, collection: string): CurrentGeneration {
    const row = open.pointer.get(collection);
    if (row === undefined) throw new UnavailableError(`The read model ${collection} is not there yet.`);
    const known = open.current.get(collection);
    if (known !== undefined && known.generation === row.generation) return known;
    const generation = Number(row.generation);
    const found = {
      collection: Number(row.id),
      generation,
      indexes: JSON.parse(String(row.indexes)),
      get: open.database.prepare(
        `SELECT generation, ord, position, body FROM collection LEFT JOIN ${table.tableName(generation)} AS document
         ON document.id = ? WHERE collection.id = ?`,
      ),
      lists: new Map(),
    };
    open.current.set(collection, found);
    return found;
  }

  #reading<Result>(work: (open: OpenFile) => Result): Result {
    try {
      const open = this.#current();
      try {
        return guarded(() => work(open));
      } catch (error) {
        if (!isMissingTable(error)) throw error;
        // The generation was replaced and dropped between the lookup of the pointer and the read.
        open.current.clear();
        return guarded(() => work(open));
      }
    } catch (error) {
      if (!(error instanceof ReadStoreDamagedError)) throw error;
      this.#closeFile();
      throw new UnavailableError('The read store is damaged; its writer will set it aside and rebuild it.');
    }
  }

  #current(): OpenFile {
    if (this.#closed) throw new UnavailableError('The read store is closed.');
    const now = performance.now();
    if (this.#open !== null && now - this.#checkedAt < fileCheckIntervalMs) return this.#open;
    const inode = this.#inode();
    if (this.#open?.inode !== inode) {
      this.#closeFile();
      this.#open = this.#openFile(inode);
    }
    this.#checkedAt = now;
    return this.#open;
  }

  #inode(): number {
    const stats = statSync(this.#file, { throwIfNoEntry: false });
    if (stats === undefined) throw new UnavailableError('The read store is not there yet.');
    return stats.ino;
  }

  #openFile(inode: number): OpenFile {
    return guarded(() => {
      const database = new DatabaseSync(this.#file, { readOnly: true, timeout: 1000 });
      try {
        database.exec('PRAGMA cache_size = -32768; PRAGMA mmap_size = 268435456');
        const pointer = database.prepare(
          `SELECT collection.id, generation, indexes FROM collection JOIN generation ON number = generation WHERE name = ?`,
        );
        return { database, inode, pointer, current: new Map() };
      } catch (error) {
        database.close();
        if (isMissingTable(error)) throw new UnavailableError('The read store is not there yet.');
        throw error;
      }
    });
  }

  #closeFile(): void {
    if (this.#open?.database.isOpen === true) this.#open.database.close();
    this.#open = null;
  }
}

function listStatement(open: OpenFile, current: CurrentGeneration, where: Where, newestFirst: boolean): StatementSync {
  const after = `(ord, id) ${newestFirst ? '<' : '>'} (?, ?)`;
  const conditions = [...table.whereConditions(current.indexes, where), after].join(' AND ');
  const known = current.lists.get(conditions);
  if (known !== undefined) return known;
  const order = newestFirst ? 'ord DESC, id DESC' : 'ord, id';
  const statement = open.database.prepare(
    `SELECT id, ord, position, body FROM ${table.tableName(current.generation)} WHERE ${conditions} ORDER BY ${order} LIMIT ?`,
  );
  if (current.lists.size < maxListStatements) current.lists.set(conditions, statement);
  return statement;
}

function isMissingTable(error: unknown): boolean {
  return error instanceof Error && error.message.includes('no such table');
}

/** A document in the cache. The caller knows the type. */
type KeptDocument = Pick<StoredDocument, 'id' | 'text'>;

/**
 * The documents that were read since the last commit of the read models. A read takes locks of the file, which costs
 * more than finding the row. A reader that is notified of each commit can avoid most reads while nothing is written.
 */
export class DocumentCache {
  readonly #documents: LRUCache<string, KeptDocument>;

  /** @param maxCharacters of JSON in the cache; the least recently used documents are evicted */
  constructor(maxCharacters = 16 * 1024 * 1024) {
    this.#documents = new LRUCache({ maxSize: maxCharacters, sizeCalculation: ({ text }) => text.length });
  }

  get<Value extends DocumentValue>(collection: string, id: string): StoredDocument<Value> | undefined {
    return this.#documents.get(keyOf(collection, id)) as StoredDocument<Value> | undefined;
  }

  /** Keeps the document unless it is larger than the cache. */
  keep(collection: string, document: KeptDocument): void {
    this.#documents.set(keyOf(collection, document.id), document);
  }

  /** Drops all documents, because the read models have moved. */
  clear(): void {
    if (this.#documents.size > 0) this.#documents.clear();
  }
}

const keyOf = (collection: string, id: string) => `${collection} ${id}`;
