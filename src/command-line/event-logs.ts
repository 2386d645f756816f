import { dirname } from 'node:path';
import { AppendLogTarget } from '#event-store/append-log-target.ts';
import {
  type EventStoreDbEventStore,
  openEventStoreDbEventStore,
} from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import type { LogTarget, RawLog } from '#event-store/raw-log.ts';
import { checkEventFile } from '#event-store/sqlite/event-file.ts';
import { asStored, SqliteEventReader } from '#event-store/sqlite/reader.ts';
import { openSqliteLogTarget } from '#event-store/sqlite/sqlite-log-target.ts';
import { WakeUps } from '#event-store/sqlite/wake-ups.ts';
import { loggerOn } from '#http/log.ts';
import type { EventStoreConfig } from '../config.ts';
import { openDataDirectory } from '../data-directory.ts';

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
 * @throws StartFailure
 */
export async function openLog(store: EventStoreConfig): Promise<OpenedLog<RawLog>> {
  if (store.kind === 'sqlite') {
    checkEventFile(store.path);
    const log = new SqliteEventReader(store.path, asStored, new WakeUps(), () => {});
    return { log, kind: store.kind, close: () => log.close() };
  }
  const log = openPatiently(store.url);
  return { log, kind: store.kind, close: () => log.close() };
}

/**
 * Opens a log to put another into it. An embedded one's folder is taken for this process.
 * @param folders further ones to take: a service that owns one of them may be at work on the store
 * @throws StartFailure when a running service owns a folder
 */
export async function openTarget(
  store: EventStoreConfig,
  folders: ReadonlyArray<string>,
): Promise<OpenedLog<LogTarget>> {
  if (store.kind !== 'sqlite') {
    const opened = openPatiently(store.url);
    return { log: new AppendLogTarget(opened), kind: store.kind, close: () => opened.close() };
  }
  const opened = new AsyncDisposableStack();
  try {
    for (const path of new Set([dirname(store.path), ...folders])) {
      const directory = openDataDirectory(path);
      opened.defer(() => directory.release());
    }
    const log = openSqliteLogTarget(store.path);
    opened.defer(() => log.close());
    return { log, kind: store.kind, close: () => opened.disposeAsync() };
  } catch (error) {
    await opened.disposeAsync();
    throw error;
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
