import { DatabaseSync } from 'node:sqlite';
import { StartupError } from '#shared/errors/startup-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

const openTimeoutMs = 5_000;
const readTimeoutMs = 1_000;

export interface ReadConnectionOptions {
  /** What the file holds, for messages: "The subject keys". */
  readonly contents: string;
  /** Creates the tables that do not exist. */
  readonly schema: string;
  /** Called with the opened file before anything is written to it. What it throws ends the opening. */
  readonly check?: (database: DatabaseSync) => void;
}

/** The reading side of a SQLite file whose writer is a `SqliteWriter`. Reads are synchronous. */
export class ReadConnection {
  readonly #database: DatabaseSync;
  readonly #contents: string;

  /**
   * Creates a file's tables if they do not exist, and opens the file for reads.
   * @param file created if it does not exist
   * @throws StartupError if it cannot be opened; what `check` throws
   */
  constructor(file: string, { contents, schema, check }: ReadConnectionOptions) {
    this.#contents = contents;
    try {
      this.#database = openFile(file, schema, check);
    } catch (error) {
      if (!isOfSqlite(error)) throw error;
      throw new StartupError(`${contents} in ${file} cannot be opened: ${error.message}.`, { cause: error });
    }
  }

  /** Reads from the file. @throws UnavailableError in place of a failure of SQLite */
  read<Result>(work: (database: DatabaseSync) => Result): Result {
    try {
      return work(this.#database);
    } catch (error) {
      if (!isOfSqlite(error)) throw error;
      throw new UnavailableError(`${this.#contents} cannot be read: ${error.message}.`);
    }
  }

  /** Closes the connection. It may be called again. */
  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }
}

function openFile(file: string, schema: string, check: (database: DatabaseSync) => void = () => undefined) {
  const maker = new DatabaseSync(file, { timeout: openTimeoutMs });
  try {
    check(maker);
    maker.exec(`PRAGMA journal_mode = WAL; ${schema}`);
    return new DatabaseSync(file, { readOnly: true, timeout: readTimeoutMs });
  } finally {
    maker.close();
  }
}

function isOfSqlite(error: unknown): error is Error {
  return error instanceof Error && 'code' in error;
}
