import type {
  RecordKey,
  RecordKind,
  RecordPutOptions,
  RecordRange,
  RecordStore,
  RecordWriteOptions,
} from '#records/record-store.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { EncodedJson, type Json, jsonTextOf } from '#shared/json/json.ts';
import { SqliteFile, type SqliteStoreOptions } from '#sqlite/sqlite-file.ts';
import type { SqlStatement, SqlWrite } from '#sqlite/sqlite-writer.ts';

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
const pageSql = 'SELECT key, value FROM records WHERE kind = ? AND key > ? AND key < ? ORDER BY key LIMIT ?';
/** A text that follows every key. */
const endOfKeys = '\u{10ffff}';
const deleteSql = 'DELETE FROM records WHERE kind = ? AND key = ?';
const takeSql =
  'INSERT INTO fences (kind, fence) VALUES (?, ?) ON CONFLICT (kind) DO UPDATE SET fence = excluded.fence';
const newerFenceSql = 'SELECT 1 FROM fences WHERE kind = ? AND fence > ?';

/**
 * Opens records in a SQLite file. A crash of the machine may lose the last writes, because of `synchronous=NORMAL`.
 * @throws StartupError if the file cannot be opened
 */
export function openSqliteRecordStore(options: SqliteStoreOptions): RecordStore {
  return new SqliteRecordStore(options);
}

class SqliteRecordStore implements RecordStore {
  readonly #file: SqliteFile;

  constructor(options: SqliteStoreOptions) {
    this.#file = new SqliteFile({ ...options, contents: 'The records', schema });
  }

  async get(kind: RecordKind, key: string): Promise<Json | null> {
    return parsed(this.#textOf(kind, key));
  }

  async encoded(kind: RecordKind, key: string): Promise<EncodedJson | null> {
    const text = this.#textOf(kind, key);
    return text === null ? null : new EncodedJson(text);
  }

  async read(places: ReadonlyArray<RecordKey>): Promise<ReadonlyArray<Json | null>> {
    return places.map(({ kind, key }) => parsed(this.#textOf(kind, key)));
  }

  async all(kind: RecordKind, keys?: ReadonlyArray<string>): Promise<ReadonlyMap<string, Json>> {
    const among = keys === undefined ? '' : ' AND key IN (SELECT value FROM json_each(?))';
    const values = keys === undefined ? [kind] : [kind, JSON.stringify(keys)];
    const rows = this.#file.rows(`SELECT key, value FROM records WHERE kind = ?${among}`, ...values);
    return valuesOf(rows);
  }

  async page(
    kind: RecordKind,
    { after = '', before = endOfKeys, limit }: RecordRange,
  ): Promise<ReadonlyMap<string, Json>> {
    return valuesOf(this.#file.rows(pageSql, kind, after, before, limit));
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

  #textOf(kind: RecordKind, key: string): string | null {
    const [row] = this.#file.rows('SELECT value FROM records WHERE kind = ? AND key = ?', kind, key);
    return row === undefined ? null : String(row.value);
  }
}

function valuesOf(rows: ReturnType<SqliteFile['rows']>): ReadonlyMap<string, Json> {
  return new Map(rows.map(({ key, value }) => [String(key), JSON.parse(String(value))]));
}

function parsed(text: string | null): Json | null {
  return text === null ? null : JSON.parse(text);
}

/** Makes a write fenced, so that its token is the newest of the kind. */
function fenced(kind: RecordKind, statements: ReadonlyArray<SqlStatement>, fence?: number): SqlWrite {
  if (fence === undefined) return { statements };
  return {
    statements: [...statements, { sql: takeSql, rows: [[kind, fence]] }],
    unless: { sql: newerFenceSql, values: [kind, fence] },
  };
}
