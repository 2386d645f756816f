import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { nothingRead, type ReadOfLog } from '#domain/shared/log-mark.ts';
import { declaredIndex } from '#read-store/indexable-fields.ts';
import type {
  CollectionDefinition,
  CollectionGenerations,
  Generation,
  OperatorState,
  ProjectionStatus,
} from '#read-store/read-store.ts';
import { createIndexes } from './create-indexes.ts';
import { DeferredTransaction } from './deferred-transaction.ts';
import * as table from './document-table.ts';
import { GenerationRows } from './generation-rows.ts';
import { guarded } from './read-store-file.ts';
import { type DocumentRow, type RowCommit, type RowStore, type RowWrite, rowWidth } from './row-commits.ts';

/** Maximum documents that one statement of a removal deletes, to bound the list of rows that SQLite makes for it. */
const removalChunk = 10_000;

/**
 * The number of pages of the write-ahead log after which SQLite copies them into the file. During a fill the same
 * pages change many times, and are copied once for many commits. Otherwise a copy should be short.
 */
const liveCheckpointPages = 2000;
const fillingCheckpointPages = 25_000;

/**
 * How long a transaction that only fills may stay open, so that a page that changes often is written once. Any other
 * commit ends it. For `quietMs` after such a commit, no transaction stays open.
 */
const maxTransactionMs = 3000;
const quietMs = 1000;

/**
 * After `rowsBeforeIndexes` documents of a fill, the store finds the indexes with few different values: those with at
 * least `rowsOfValue` documents for each value.
 */
const rowsBeforeIndexes = 5000;
const rowsOfValue = 10;

interface GenerationStatements {
  readonly width: number;
  puts: number;
  /** True if the store has decided which indexes the fill creates early. */
  isIndexed: boolean;
  readonly get: StatementSync;
  readonly update: StatementSync;
  readonly put: StatementSync;
  readonly delete: StatementSync;
}

/** Stores rows on the calling thread. */
export class SqliteRowStore implements RowStore {
  readonly #database: DatabaseSync;
  readonly #transaction: DeferredTransaction;
  readonly #generations: GenerationRows;
  readonly #saveCheckpoint: StatementSync;
  readonly #putNote: StatementSync;
  readonly #statements = new Map<number, GenerationStatements>();
  /** The numbers of incomplete generations. */
  #filling: ReadonlySet<number> = new Set();
  /** The time of the last commit to a complete generation. */
  #servedAt = Number.NEGATIVE_INFINITY;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#transaction = new DeferredTransaction(database);
    this.#generations = new GenerationRows(database);
    this.#saveCheckpoint = database.prepare('UPDATE generation SET checkpoint = ? WHERE number = ?');
    this.#putNote = database.prepare(
      'INSERT INTO note VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET body = excluded.body',
    );
    guarded(() => this.#noteFillings());
  }

  get filling(): ReadonlySet<number> {
    return this.#filling;
  }

  async generations(collection: string): Promise<CollectionGenerations> {
    return guarded(() => this.#generations.currentAndFilling(collection));
  }

  async begin(definition: CollectionDefinition, begunAt: number): Promise<Generation> {
    const generation = this.#transaction.run(() => {
      for (const { number, complete } of this.#generations.of(definition.name)) if (!complete) this.#drop(number);
      return this.#generations.add(definition, begunAt);
    });
    guarded(() => this.#noteFillings());
    return generation;
  }

  async read(
    generation: Generation,
    ids: ReadonlyArray<string>,
    maxCharacters = Number.POSITIVE_INFINITY,
  ): Promise<ReadonlyMap<string, DocumentRow>> {
    return guarded(() => {
      let characters = 0;
      const { get } = this.#statementsOf(generation);
      const documents = new Map<string, DocumentRow>();
      for (const id of ids) {
        const row = get.get(id) as { ord: number; position: number; body: string } | undefined;
        if (row === undefined) continue;
        documents.set(id, { order: row.ord, position: row.position, body: row.body });
        characters += row.body.length;
        if (characters >= maxCharacters) break;
      }
      return documents;
    });
  }

  async commit(commits: ReadonlyArray<RowCommit>, more = false, read?: ReadOfLog): Promise<void> {
    const filling = commits.every(({ generation }) => this.#filling.has(generation.number));
    const now = performance.now();
    if (!filling) this.#servedAt = now;
    // While complete generations change too, each of their commits would have to wait for everything that was
    // postponed.
    const mayWait = more && filling && now - this.#servedAt > quietMs;
    this.#transaction.run(
      () => {
        for (const { generation, writes, checkpoint } of commits) {
          for (const write of writes) this.#write(generation, write);
          this.#saveCheckpoint.run(checkpoint, generation.number);
          if (this.#filling.has(generation.number)) this.#index(generation);
        }
        if (read !== undefined) this.#putNote.run('read-of-log', JSON.stringify(read));
      },
      mayWait ? maxTransactionMs : 0,
    );
  }

  async writePart(generation: Generation, write: RowWrite): Promise<void> {
    this.#transaction.run(() => this.#write(generation, write), Number.POSITIVE_INFINITY);
  }

  async finish(generation: Generation): Promise<void> {
    this.#transaction.end();
    createIndexes(this.#database, this.#transaction, generation);
  }

  async publish(generation: Generation): Promise<void> {
    this.#transaction.run(() => this.#generations.publish(generation));
    this.#transaction.run(() => {
      for (const { number } of this.#generations.of(generation.name))
        if (number < generation.number) this.#drop(number);
    });
    guarded(() => this.#noteFillings());
  }

  async dropOthers(collections: ReadonlyArray<string>): Promise<void> {
    this.#transaction.run(() => {
      for (const number of this.#generations.ofOthers(collections)) this.#drop(number);
      this.#generations.keepNames(collections);
    });
  }

  async operatorState(): Promise<OperatorState> {
    const row = guarded(() => this.#database.prepare("SELECT body FROM note WHERE name = 'operator-state'").get());
    return row === undefined ? { position: 0, skipped: {} } : JSON.parse(String(row.body));
  }

  async readOfLog(): Promise<ReadOfLog> {
    const row = guarded(() => this.#database.prepare("SELECT body FROM note WHERE name = 'read-of-log'").get());
    return row === undefined ? nothingRead : JSON.parse(String(row.body));
  }

  async saveOperatorState(state: OperatorState): Promise<void> {
    this.#saveNote('operator-state', state);
  }

  async saveStatus(statuses: ReadonlyArray<ProjectionStatus>): Promise<void> {
    // The status may be part of a fill's transaction. To end that transaction each second would write its pages as
    // often.
    this.#saveNote('status', statuses, this.#transaction.isOpen ? maxTransactionMs : 0);
  }

  async close(): Promise<void> {
    if (!this.#database.isOpen) return;
    try {
      this.#transaction.end();
    } finally {
      this.#database.close();
    }
  }

  #noteFillings(): void {
    this.#filling = this.#generations.filling();
    this.#database.exec(
      `PRAGMA wal_autocheckpoint = ${this.#filling.size > 0 ? fillingCheckpointPages : liveCheckpointPages}`,
    );
  }

  #write(generation: Generation, write: RowWrite): void {
    const statements = this.#statementsOf(generation);
    switch (write.kind) {
      case 'put': {
        const { update, put, width } = statements;
        const { values } = write;
        // A fill mostly makes documents, and has few indexes yet.
        const isFilling = this.#filling.has(generation.number);
        for (let at = 0; at < values.length; at += width) {
          const row = values.slice(at, at + width);
          if (isFilling || update.run(...row).changes === 0) put.run(...row);
        }
        statements.puts += values.length / width;
        return;
      }
      case 'delete':
        statements.delete.run(write.id, write.position);
        return;
      case 'delete-where':
        this.#deleteWhere(generation, write);
    }
  }

  /**
   * Creates those indexes of a fill early that have few different values. An entry of such an index is added at one of
   * few places, which costs no more than to sort it at the end. Any other index would be written all over.
   */
  #index(generation: Generation): void {
    const statements = this.#statementsOf(generation);
    if (statements.isIndexed || statements.puts < rowsBeforeIndexes) return;
    statements.isIndexed = true;
    const { number, indexes } = generation;
    const name = table.tableName(number);
    for (const fields of [[], ...indexes]) {
      const values = this.#database.prepare(table.countIndexedValues(number, indexes, fields)).get()?.count;
      const rows = this.#database.prepare(`SELECT count(*) AS count FROM ${name}`).get()?.count;
      if (Number(values) * rowsOfValue > Number(rows)) continue;
      this.#database.exec(table.createIndex(number, indexes, fields));
    }
  }

  #deleteWhere(generation: Generation, { where, position }: RowWrite & { kind: 'delete-where' }): void {
    const { number, indexes } = generation;
    // During a rebuild the index may be missing: the first removal that needs it creates it.
    this.#database.exec(table.createIndex(number, indexes, declaredIndex(indexes, where)));
    const conditions = [...table.whereConditions(indexes, where), 'position <= ?'].join(' AND ');
    const name = table.tableName(number);
    const remove = this.#database.prepare(
      `DELETE FROM ${name} WHERE rowid IN (SELECT rowid FROM ${name} WHERE ${conditions} LIMIT ${removalChunk})`,
    );
    const values = [...table.whereValues(indexes, where), position];
    while (Number(remove.run(...values).changes) === removalChunk);
  }

  #statementsOf(generation: Generation): GenerationStatements {
    const known = this.#statements.get(generation.number);
    if (known !== undefined) return known;
    const name = table.tableName(generation.number);
    const statements = {
      width: rowWidth(generation),
      puts: 0,
      isIndexed: false,
      get: this.#database.prepare(`SELECT ord, position, body FROM ${name} WHERE id = ?`),
      update: this.#database.prepare(table.updateDocument(generation.number, generation.indexes)),
      put: this.#database.prepare(table.putDocument(generation.number, generation.indexes)),
      delete: this.#database.prepare(`DELETE FROM ${name} WHERE id = ? AND position <= ?`),
    };
    this.#statements.set(generation.number, statements);
    return statements;
  }

  #drop(generation: number): void {
    this.#statements.delete(generation);
    this.#generations.remove(generation);
  }

  #saveNote(name: string, body: object, maxTransactionAgeMs = 0): void {
    this.#transaction.run(() => this.#putNote.run(name, JSON.stringify(body)), maxTransactionAgeMs);
  }
}
