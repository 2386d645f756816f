import { DatabaseSync } from 'node:sqlite';
import { StartupError } from '#shared/errors/startup-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { SqliteWriter } from './sqlite-writer.ts';
import type { SqlWrite, WrittenFile } from './writer-messages.ts';

const openTimeoutMs = 5_000;
const readTimeoutMs = 1_000;

export interface SqliteFileOptions {
  /** Created if it does not exist. */
  readonly path: string;
  /** What the file holds, for messages: "The subject keys". */
  readonly contents: string;
  /** Creates the tables that do not exist. */
  readonly schema: string;
  /** The thread that writes the file. Its owner closes it after the file. */
  readonly writer: SqliteWriter;
  /** Whether a write is on the disk when it is answered. Default false: a crash of the machine may lose the last ones. */
  readonly isDurable?: boolean;
  /** Called with the opened file before anything is written to it. What it throws ends the opening. */
  readonly check?: (database: DatabaseSync) => void;
}

/** A small SQLite file: reads are synchronous, and another thread writes. A read sees every write that was answered. */
export class SqliteFile {
  readonly #contents: string;
  readonly #database: DatabaseSync;
  readonly #writer: SqliteWriter;
  readonly #file: WrittenFile;

  /**
   * Creates the file and its tables if they do not exist, and opens it.
   * @throws StartupError if it cannot be opened; what `check` throws
   */
  constructor({ path, contents, schema, writer, isDurable = false, check }: SqliteFileOptions) {
    this.#contents = contents;
    this.#writer = writer;
    this.#file = { path, contents, isDurable };
    try {
      this.#database = openFile(path, schema, check);
    } catch (error) {
      if (!isOfSqlite(error)) throw error;
      throw new StartupError(`${contents} in ${path} cannot be opened: ${error.message}.`, { cause: error });
    }
  }

  /** Reads from the file. @throws UnavailableError in place of a failure of SQLite, and once it is closed */
  read<Result>(work: (database: DatabaseSync) => Result): Result {
    try {
      return work(this.#database);
    } catch (error) {
      if (!isOfSqlite(error)) throw error;
      throw new UnavailableError(`${this.#contents} cannot be read: ${error.message}.`);
    }
  }

  /**
   * Writes to the file. @see SqliteWriter.write
   * @throws UnavailableError, also once it is closed
   */
  async write(write: SqlWrite): Promise<'done' | 'refused'> {
    if (!this.#database.isOpen) throw new UnavailableError(`${this.#contents} are closed.`);
    return this.#writer.write(this.#file, write);
  }

  /** Closes the reading side. It may be called again. */
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
