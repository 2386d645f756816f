import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { EventStoreConfig } from '#app/config.ts';
import { lockStoreFile } from '#app/files/store-file-lock.ts';
import {
  type EventStoreDbEventStore,
  openEventStoreDbEventStore,
} from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { ChangeListener } from '#event-store/sqlite/change-notifications.ts';
import { checkEventFile } from '#event-store/sqlite/event-file.ts';
import { asStored, SqliteEventReader } from '#event-store/sqlite/reader.ts';
import { openSqliteLogTarget } from '#event-store/sqlite/sqlite-log-target.ts';
import { AppendLogTarget } from '#event-store/transfer/append-log-target.ts';
import type { LogTarget, RawLog } from '#event-store/transfer/raw-log.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { loggerOn } from '#shared/logging/logger.ts';

/** A log that was opened. */
export interface OpenedLog<Log extends RawLog> {
  readonly log: Log;
  /** The kind of store that it is on. */
  readonly kind: EventStoreConfig['kind'];
  readonly close: () => Promise<void>;
}

/** An append or a read is tried this long: a server that is started again costs no more than a wait. */
const patientMilliseconds = 60_000;

/** The server's own limit decides. */
const maxAppendBytes = 64 * 1024 * 1024;

/**
 * Opens a log to read it; a service may run on it.
 * @throws StartupError
 */
export async function openLog(store: EventStoreConfig): Promise<OpenedLog<RawLog>> {
  if (store.kind === 'sqlite') {
    checkEventFile(store.path);
    const log = new SqliteEventReader(store.path, asStored, new ChangeListener(), () => {});
    return { log, kind: store.kind, close: () => log.close() };
  }
  const log = openPatiently(store.url);
  return { log, kind: store.kind, close: () => log.close() };
}

/**
 * Opens a log to put another into it. An embedded one's file is taken for this process; its folder is made if need be.
 * @throws StartupError when another process has the file, or its folder cannot be made
 */
export async function openTarget(store: EventStoreConfig): Promise<OpenedLog<LogTarget>> {
  if (store.kind !== 'sqlite') {
    const opened = openPatiently(store.url);
    return { log: new AppendLogTarget(opened), kind: store.kind, close: () => opened.close() };
  }
  makeFolder(dirname(store.path));
  const lock = lockStoreFile(store.path, 'EVENT_STORE_URL');
  try {
    const log = openSqliteLogTarget(store.path);
    const close = async () => {
      await log.close();
      lock.release();
    };
    return { log, kind: store.kind, close };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** @throws StartupError */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StartupError(`The folder ${path} cannot be made (${error}); name another.`, { cause: error });
  }
}

function openPatiently(url: string): EventStoreDbEventStore {
  return openEventStoreDbEventStore({
    url,
    maxAppendBytes,
    answerWithinMs: patientMilliseconds,
    readWithinMs: patientMilliseconds,
    log: loggerOn('error', process.stderr),
  });
}
