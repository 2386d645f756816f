import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type {
  RecordKey,
  RecordKind,
  RecordPutOptions,
  RecordStore,
  RecordWriteOptions,
} from '#records/record-store.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { EncodedJson, jsonTextOf } from '#shared/json/encoded-json.ts';
import type { Json } from '#shared/json/json.ts';
import { SqliteFile } from '#sqlite/sqlite-file.ts';
import type { SqliteWriter } from '#sqlite/sqlite-writer.ts';
import type { SqlStatement, SqlWrite } from '#sqlite/writer-messages.ts';

const schema = `
  CREATE TABLE IF NOT EXISTS records (
    kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (kind, key)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS fences (kind TEXT PRIMARY KEY, fence INTEGER NOT NULL) STRICT;
`;

const insert = 'INSERT INTO records (kind, key, value) VALUES (?, ?, ?) ON CONFLICT (kind, key) ';
const replaceSql = `${insert} DO UPDATE SET value = excluded.value`;
const putSql = {
  existing: `${insert} DO NOTHING`,
  greater: `${replaceSql} WHERE excluded.value > value`,
};
const deleteSql = 'DELETE FROM records WHERE kind = ? AND key = ?';
const takeSql =
  'INSERT INTO fences (kind, fence) VALUES (?, ?) ON CONFLICT (kind) DO UPDATE SET fence = excluded.fence';
const newerFenceSql = 'SELECT 1 FROM fences WHERE kind = ? AND fence > ?';

export interface SqliteRecordStoreOptions {
  /** Created if it does not exist. */
  readonly file: string;
  /** The thread that writes the file. Its owner closes it after the store. */
  readonly writer: SqliteWriter;
}

/**
 * Opens records in a SQLite file. A crash of the machine may lose the last writes, because of `synchronous=NORMAL`.
 * @throws StartupError if the file cannot be opened
 */
export function openSqliteRecordStore(options: SqliteRecordStoreOptions): RecordStore {
  return new SqliteRecordStore(options);
}

class SqliteRecordStore implements RecordStore {
  readonly #file: SqliteFile;
  readonly #statements = new Map<string, StatementSync>();

  constructor({ file: path, writer }: SqliteRecordStoreOptions) {
    this.#file = new SqliteFile({ path, writer, contents: 'The records', schema });
  }

  async get(kind: RecordKind, key: string): Promise<Json | null> {
    return this.#file.read((database) => parsed(this.#textOf(database, kind, key)));
  }

  async encoded(kind: RecordKind, key: string): Promise<EncodedJson | null> {
    const text = this.#file.read((database) => this.#textOf(database, kind, key));
    return text === null ? null : new EncodedJson(text);
  }

  async read(places: ReadonlyArray<RecordKey>): Promise<ReadonlyArray<Json | null>> {
    return this.#file.read((database) => places.map(({ kind, key }) => parsed(this.#textOf(database, kind, key))));
  }

  async all(kind: RecordKind, keys?: ReadonlyArray<string>): Promise<ReadonlyMap<string, Json>> {
    const among = keys === undefined ? '' : ' AND key IN (SELECT value FROM json_each(?))';
    const values = keys === undefined ? [kind] : [kind, JSON.stringify(keys)];
    const rows = this.#file.read((database) =>
      this.#prepared(database, `SELECT key, value FROM records WHERE kind = ?${among}`).all(...values),
    );
    return new Map(rows.map(({ key, value }) => [String(key), JSON.parse(String(value))]));
  }

  take(kind: RecordKind, fence: number): Promise<void> {
    return this.#write(kind, [], fence);
  }

  async put(
    kind: RecordKind,
    entries: ReadonlyMap<string, Json | EncodedJson>,
    options: RecordPutOptions = {},
  ): Promise<void> {
    if (entries.size === 0) return;
    const rows = [...entries].map(([key, value]) => [kind, key, jsonTextOf(value)]);
    const sql = options.keep === undefined ? replaceSql : putSql[options.keep];
    await this.#write(kind, [{ sql, rows }], options.fence);
  }

  async delete(kind: RecordKind, keys: ReadonlyArray<string>, { fence }: RecordWriteOptions = {}): Promise<void> {
    if (keys.length === 0) return;
    await this.#write(kind, [{ sql: deleteSql, rows: keys.map((key) => [kind, key]) }], fence);
  }

  async close(): Promise<void> {
    this.#file.close();
  }

  async #write(kind: RecordKind, statements: ReadonlyArray<SqlStatement>, fence?: number): Promise<void> {
    if ((await this.#file.write(fenced(kind, statements, fence))) === 'done') return;
    throw new FencedError(`The records of ${kind} are written with a newer token than ${fence} now.`);
  }

  #textOf(database: DatabaseSync, kind: RecordKind, key: string): string | null {
    const row = this.#prepared(database, 'SELECT value FROM records WHERE kind = ? AND key = ?').get(kind, key);
    return row === undefined ? null : String(row.value);
  }

  #prepared(database: DatabaseSync, sql: string): StatementSync {
    const known = this.#statements.get(sql) ?? database.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }
}

function parsed(text: string | null): Json | null {
  return text === null ? null : JSON.parse(text);
}

/** A fenced write makes its token the newest of the kind. */
function fenced(kind: RecordKind, statements: ReadonlyArray<SqlStatement>, fence?: number): SqlWrite {
  if (fence === undefined) return { statements };
  return {
    statements: [...statements, { sql: takeSql, rows: [[kind, fence]] }],
    unless: { sql: newerFenceSql, values: [kind, fence] },
  };
}
