import { DatabaseSync, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { StartupError } from '#shared/errors/startup-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { SqliteWriter, SqlValue, SqlWrite, WrittenFile } from './sqlite-writer.ts';

export interface SqliteStoreOptions {
  /** The path of the file, which is created if it does not exist. */
  readonly file: string;
  /** Writes the file. Its owner closes it after the store. */
  readonly writer: SqliteWriter;
}

const openTimeoutMs = 5_000;
const readTimeoutMs = 1_000;

export interface SqliteFileOptions extends SqliteStoreOptions {
  /** What the file holds, for messages: "The subject keys". */
  readonly contents: string;
  /** Creates the tables that do not exist. */
  readonly schema: string;
  /**
   * True if a write is on the disk when it is answered. Default false: a crash of the machine may lose the last ones.
   */
  readonly isDurable?: boolean;
  /** True if all deleted bytes are set to zero. Default false: only those in pages that are written anyway. */
  readonly isZeroed?: boolean;
  /** Called with the opened file before anything is written to it. What it throws ends the opening. */
  readonly check?: (database: DatabaseSync) => void;
}

/** A small SQLite file: reads are synchronous, and another thread writes. A read sees every write that was answered. */
export class SqliteFile {
  readonly #contents: string;
  readonly #database: DatabaseSync;
  readonly #writer: SqliteWriter;
  readonly #file: WrittenFile;
  /** Prepared statements by their texts, which the code has, so that they are few. */
  readonly #statements = new Map<string, StatementSync>();

  /**
   * Creates the file and its tables if they do not exist, and opens it.
   * @throws StartupError if it cannot be opened; what `check` throws
   */
  constructor({ file: path, contents, schema, writer, isDurable = false, isZeroed = false, check }: SqliteFileOptions) {
    this.#contents = contents;
    this.#writer = writer;
    this.#file = { path, contents, isDurable, isZeroed };
    try {
      this.#database = openFile(path, schema, check);
    } catch (error) {
      if (!isOfSqlite(error)) throw error;
      throw new StartupError(`${contents} in ${path} cannot be opened: ${error.message}.`, { cause: error });
    }
  }

  /**
   * Returns the rows of a query. Its statement is kept, so the text must be one that the code has.
   * @throws UnavailableError in place of a failure of SQLite, and once it is closed
   */
  rows(sql: string, ...values: ReadonlyArray<SqlValue>): ReadonlyArray<Record<string, SQLOutputValue>> {
    try {
      const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
      this.#statements.set(sql, statement);
      return statement.all(...values);
    } catch (error) {
      if (!isOfSqlite(error)) throw error;
      throw new UnavailableError(`${this.#contents} cannot be read: ${error.message}.`);
    }
  }

  /** @see SqliteWriter.write @throws UnavailableError, also once it is closed */
  async write(write: SqlWrite): Promise<'done' | 'refused'> {
    if (!this.#database.isOpen) throw new UnavailableError(`${this.#contents} are closed.`);
    return this.#writer.write(this.#file, write);
  }

  /** May be called again. */
  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }
}

function openFile(path: string, schema: string, check: (database: DatabaseSync) => void = () => undefined) {
  const maker = new DatabaseSync(path, { timeout: openTimeoutMs });
  try {
    check(maker);
    maker.exec(`PRAGMA journal_mode = WAL; ${schema}`);
    return new DatabaseSync(path, { readOnly: true, timeout: readTimeoutMs });
  } finally {
    maker.close();
  }
}

function isOfSqlite(error: unknown): error is Error {
  return error instanceof Error && 'code' in error;
}
