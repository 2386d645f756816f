import { dirname } from 'node:path';
import { checkFolderFormat, recordFolderFormat } from '#app/files/folder-format.ts';
import { lockStoreFile } from '#app/files/store-file-lock.ts';
import { checkLogFormat, recordLogFormat } from '#app/log-format.ts';
import { waitForStore } from '#app/startup/wait-for-stores.ts';
import type { EventStoreConfig } from '#app/store-config.ts';
import { streamKinds } from '#domain/stream-kinds.ts';
import { ChangeListener } from '#event-store/change-notifications.ts';
import type { EventStore } from '#event-store/event-store.ts';
import type { EventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import type { LogPages } from '#event-store/log-pages.ts';
import { asStored, type Upcast } from '#event-store/recorded-event.ts';
import { checkEventFile } from '#event-store/sqlite/event-file.ts';
import { SqliteEventReader } from '#event-store/sqlite/reader.ts';
import { openSqliteLogTarget } from '#event-store/sqlite/sqlite-log-target.ts';
import { AppendLogTarget } from '#event-store/transfer/append-log-target.ts';
import type { LogTarget, RawLog } from '#event-store/transfer/raw-log.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { makeFolder } from '#shared/files/make-folder.ts';
import { loggerOn } from '#shared/logging/pino-logger.ts';

/** An open log. */
export interface OpenedLog<Log extends RawLog> {
  readonly log: Log;
  /** The kind of its store. */
  readonly kind: EventStoreConfig['kind'];
  readonly close: () => Promise<void>;
}

/** How long an append or a read is retried, so that a restart of the server only causes a wait. */
const commandLineAnswerTimeoutMs = 60_000;

/** The server's own limit decides. */
const maxAppendBytes = 64 * 1024 * 1024;

const toolLog = loggerOn('error', process.stderr);

/**
 * Opens a log to read it; a service may run on it.
 * @throws StartupError
 */
export async function openLog(store: EventStoreConfig): Promise<OpenedLog<RawLog>> {
  if (store.kind === 'sqlite') {
    const log = openFile(store.path);
    return { log, kind: store.kind, close: () => log.close() };
  }
  const log = await openPatiently(store);
  return { log, kind: store.kind, close: () => log.close() };
}

/** The streams of an open log. */
export interface OpenedStreams {
  readonly streams: Pick<EventStore, 'read'> & LogPages & RawLog;
  readonly close: () => Promise<void>;
}

/**
 * Opens a log to read its streams; a service may run on it.
 * @param upcast brings data to its newest shape; without it data comes as stored
 * @throws StartupError
 */
export async function openStreams(store: EventStoreConfig, upcast: Upcast = asStored): Promise<OpenedStreams> {
  if (store.kind === 'sqlite') {
    const reader = openFile(store.path, upcast);
    return { streams: reader, close: () => reader.close() };
  }
  const opened = await openPatiently(store, upcast);
  return { streams: opened, close: () => opened.close() };
}

/**
 * Opens a log as the target of an import. An embedded log's file is locked for this process; its folder is created if
 * needed.
 * @throws StartupError if another process has the file, if the folder cannot be created, or if another release wrote it
 */
export async function openTarget(store: EventStoreConfig): Promise<OpenedLog<LogTarget>> {
  if (store.kind !== 'sqlite') {
    const opened = await openPatiently(store);
    const recording = waitForStore('EVENT_STORE_URL', toolLog, () => recordLogFormat(opened));
    await recording.catch(closing(opened));
    return { log: new AppendLogTarget(opened), kind: store.kind, close: () => opened.close() };
  }
  const folder = dirname(store.path);
  makeTargetFolder(folder);
  checkFolderFormat(folder);
  const lock = lockStoreFile(store.path, 'EVENT_STORE_URL');
  try {
    const log = openSqliteLogTarget(store.path);
    recordFolderFormat(folder);
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
function openFile(path: string, upcast: Upcast = asStored): SqliteEventReader {
  checkFolderFormat(dirname(path));
  checkEventFile(path);
  return new SqliteEventReader(path, upcast, new ChangeListener(), () => {});
}

/** @throws StartupError */
function makeTargetFolder(path: string): void {
  try {
    makeFolder(path);
  } catch (error) {
    throw new StartupError(`The folder ${path} cannot be made (${error}); name another.`, { cause: error });
  }
}

/**
 * Loads the client only here, because a tool on an embedded log does not need it.
 * @throws StartupError, also if a newer or an older release has written the log
 */
async function openPatiently(
  { url, streamPrefix }: EventStoreConfig & { kind: 'eventstoredb' },
  upcast: Upcast = asStored,
): Promise<EventStoreDbEventStore> {
  const { openEventStoreDbEventStore } = await import('#event-store/eventstoredb/eventstoredb-event-store.ts');
  const opened = openEventStoreDbEventStore({
    url,
    streamPrefix,
    streamKinds,
    upcast,
    retriesWhenUnavailable: true,
    maxAppendBytes,
    answerWithinMs: commandLineAnswerTimeoutMs,
    readWithinMs: commandLineAnswerTimeoutMs,
    log: toolLog,
  });
  await checkLogFormat(opened).catch(closing(opened));
  return opened;
}

/** Closes a store after a failure, which it throws again. */
function closing(opened: EventStoreDbEventStore): (error: unknown) => Promise<never> {
  return async (error) => {
    await opened.close();
    throw error;
  };
}
