import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { dataDatabases } from '#app/files/data-files.ts';
import type { StoredSnapshot } from '#application/streams/stream-snapshots.ts';
import type { RecordStore } from '#records/record-store.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import {
  allParts,
  type EarlierCheckpoint,
  type EarlierRecords,
  partsToTakeOver,
  takeOverRecords,
} from './take-over-records.ts';

export interface EmbeddedTakeOverOptions {
  readonly dataDir: string;
  /** The file of the read models. No other connection of this process may have it open. */
  readonly readStoreFile: string;
  readonly records: RecordStore;
  readonly log: Pick<Logger, 'warn'>;
}

/**
 * Copies what release 0.3 has stored in `processes.db` and in the read models' file into the records, once.
 * @throws StartupError if `processes.db` cannot be read; UnavailableError
 */
export async function takeOverEmbeddedRecords(options: EmbeddedTakeOverOptions): Promise<void> {
  const { dataDir, readStoreFile, records, log } = options;
  const parts = await partsToTakeOver(records, allParts);
  if (parts.length === 0) return;
  using processes = openTables(join(dataDir, dataDatabases.processes));
  using readModels = openTables(readStoreFile, (error) =>
    log.warn(
      { file: readStoreFile, error },
      'The times of the last use of keys and the snapshots of the earlier release cannot be read; they are left out',
    ),
  );
  for (const part of parts) await takeOverRecords(records, earlierRecords(processes, readModels), part);
}

function earlierRecords(processes: Tables, readModels: Tables): EarlierRecords {
  return {
    checkpoints: async () =>
      processes
        .rows('checkpoints', ['process', 'log', 'position', 'last_appended', 'failure'])
        .map(([process, log, position, lastAppended, failure]) => ({
          process: String(process),
          log: log === null ? null : String(log),
          position: Number(position),
          lastAppended: Number(lastAppended),
          failure: failure === null ? null : (JSON.parse(String(failure)) as EarlierCheckpoint['failure']),
        })),
    deliveries: async () =>
      processes.rows('webhook_deliveries', ['endpoint', 'log', 'state']).map(([endpoint, log, state]) => ({
        endpoint: String(endpoint),
        log: String(log),
        state: String(state),
      })),
    keyUsage: async () =>
      new Map(readModels.rows('keyLastUsed', ['keyId', 'time']).map(([keyId, time]) => [String(keyId), String(time)])),
    snapshots: () => snapshotsOf(readModels),
    // They stay in the file of the read models.
    notes: async () => new Map(),
  };
}

/** Reads one snapshot at a time, because they are large. */
async function* snapshotsOf(readModels: Tables): AsyncGenerator<StoredSnapshot> {
  for (const [stream] of readModels.rows('snapshot', ['stream'])) {
    const columns = ['revision', 'hash', 'stateVersion', 'body'];
    const [row] = readModels.rows('snapshot', columns, { column: 'stream', value: String(stream) });
    if (row === undefined) continue;
    const [revision, hash, stateVersion, body] = row;
    yield {
      stream: String(stream),
      revision: Number(revision),
      hash: String(hash),
      stateVersion: Number(stateVersion),
      body: String(body),
    };
  }
}

interface Tables extends Disposable {
  /** Returns the rows of a table; none if the file has no such table, or one without such columns. */
  rows(
    table: string,
    columns: ReadonlyArray<string>,
    where?: { readonly column: string; readonly value: string },
  ): ReadonlyArray<ReadonlyArray<unknown>>;
}

/**
 * Opens a file of release 0.3 for reads. A missing file has no tables.
 * @param onFailure called if the file or a table cannot be read, which then has no rows. Without it, that is a
 *   StartupError
 */
function openTables(file: string, onFailure?: (error: string) => void): Tables {
  if (!existsSync(file)) return noTables;
  const guarded = <Result>(read: () => Result, otherwise: Result): Result => {
    try {
      return read();
    } catch (error) {
      if (onFailure === undefined) throw new StartupError(`${file} cannot be read: ${error}.`, { cause: error });
      onFailure(String(error));
      return otherwise;
    }
  };
  const tables = guarded(() => tablesOf(openToRead(file)), noTables);
  return {
    rows: (...asked) => guarded(() => tables.rows(...asked), []),
    [Symbol.dispose]: () => tables[Symbol.dispose](),
  };
}

function openToRead(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  try {
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function tablesOf(database: DatabaseSync): Tables {
  return {
    rows: (table, columns, where) => {
      const known = database
        .prepare('SELECT name FROM pragma_table_info(?)')
        .all(table)
        .map(({ name }) => name);
      if (!columns.every((column) => known.includes(column))) return [];
      const condition = where === undefined ? '' : ` WHERE ${where.column} = ?`;
      const rows = database.prepare(`SELECT ${columns.join(', ')} FROM ${table}${condition}`);
      return rows.all(...(where === undefined ? [] : [where.value])).map((row) => columns.map((name) => row[name]));
    },
    [Symbol.dispose]: () => database.close(),
  };
}

const noTables: Tables = { rows: () => [], [Symbol.dispose]: () => undefined };
