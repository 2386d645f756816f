import type { DatabaseSync } from 'node:sqlite';
import type { CollectionDefinition, CollectionGenerations, Generation } from '#read-store/read-store.ts';
import { createTable, tableName } from './document-table.ts';

/** The rows of generations. Changes need a transaction. */
export class GenerationRows {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** The generations of a collection, the oldest first. */
  of(collection: string): ReadonlyArray<Generation> {
    const rows = this.#database
      .prepare('SELECT * FROM generation WHERE collection = ? ORDER BY number')
      .all(collection);
    return rows.map((row) => ({
      name: collection,
      version: Number(row.version),
      indexes: JSON.parse(String(row.indexes)),
      number: Number(row.number),
      begunAt: Number(row.begunAt),
      complete: row.complete === 1,
      checkpoint: Number(row.checkpoint),
    }));
  }

  currentAndFilling(collection: string): CollectionGenerations {
    const row = this.#database.prepare('SELECT generation FROM collection WHERE name = ?').get(collection);
    const current = row === undefined ? null : Number(row.generation);
    const generations = this.of(collection);
    return {
      current: generations.find(({ number }) => number === current) ?? null,
      filling: generations.find(({ number }) => number !== current) ?? null,
    };
  }

  filling(): ReadonlySet<number> {
    const rows = this.#database.prepare('SELECT number FROM generation WHERE complete = 0').all();
    return new Set(rows.map(({ number }) => Number(number)));
  }

  ofOthers(collections: ReadonlyArray<string>): ReadonlyArray<number> {
    const rows = this.#database.prepare('SELECT number, collection FROM generation').all();
    return rows.filter((row) => !collections.includes(String(row.collection))).map((row) => Number(row.number));
  }

  /** Adds a generation. Queries read it if the collection has no other. */
  add({ name, version, indexes }: CollectionDefinition, begunAt: number): Generation {
    const { lastInsertRowid } = this.#database
      .prepare(
        'INSERT INTO generation (collection, version, indexes, begunAt, complete, checkpoint) VALUES (?, ?, ?, ?, 0, 0)',
      )
      .run(name, version, JSON.stringify(indexes), begunAt);
    const number = Number(lastInsertRowid);
    this.#database.exec(createTable(number, indexes));
    if (this.of(name).length === 1) this.#pointAt(name, number);
    return { name, version, indexes, number, begunAt, complete: false, checkpoint: 0 };
  }

  publish({ name, number }: Generation): void {
    this.#database.prepare('UPDATE generation SET complete = 1 WHERE number = ?').run(number);
    this.#pointAt(name, number);
  }

  remove(number: number): void {
    this.#database.exec(`DROP TABLE IF EXISTS ${tableName(number)}`);
    this.#database.prepare('DELETE FROM generation WHERE number = ?').run(number);
  }

  keepNames(collections: ReadonlyArray<string>): void {
    this.#database
      .prepare('DELETE FROM collection WHERE name NOT IN (SELECT value FROM json_each(?))')
      .run(JSON.stringify(collections));
  }

  #pointAt(collection: string, number: number): void {
    this.#database
      .prepare(
        'INSERT INTO collection (name, generation) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET generation = excluded.generation',
      )
      .run(collection, number);
  }
}
