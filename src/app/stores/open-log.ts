import { dirname } from 'node:path';
import { checkFolderFormat } from '#app/files/folder-format.ts';
import { checkLogFormat } from '#app/log-format.ts';
import type { EventStoreConfig } from '#app/store-config.ts';
import { streamKinds } from '#domain/stream-kinds.ts';
import { ChangeListener } from '#event-store/change-notifications.ts';
import type { EventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { asStored, type Upcast } from '#event-store/recorded-event.ts';
import { checkEventFile } from '#event-store/sqlite/event-file.ts';
import { SqliteEventReader } from '#event-store/sqlite/reader.ts';
import type { RawLog } from '#event-store/transfer/raw-log.ts';
import { loggerOn } from '#shared/logging/pino-logger.ts';

export interface OpenedLog<Log extends RawLog> {
  readonly log: Log;
  readonly kind: EventStoreConfig['kind'];
  readonly close: () => Promise<void>;
}

/** Time limit of an append or a read, so that a restart of the server only causes a wait. */
const patientAnswerTimeoutMs = 60_000;

/** The server's own limit decides. */
const maxAppendBytes = 64 * 1024 * 1024;

export const toolLog = loggerOn('error', process.stderr);

/** Opens a log for reading; a service may run on it. @throws StartupError */
export async function openLog(store: EventStoreConfig): Promise<OpenedLog<RawLog>> {
  if (store.kind === 'sqlite') {
    const log = openLogFile(store.path);
    return { log, kind: store.kind, close: () => log.close() };
  }
  const log = await openServerLog(store);
  return { log, kind: store.kind, close: () => log.close() };
}

/** @throws StartupError */
export function openLogFile(path: string, upcast: Upcast = asStored): SqliteEventReader {
  checkFolderFormat(dirname(path));
  checkEventFile(path);
  return new SqliteEventReader(path, upcast, new ChangeListener(), () => {});
}

/**
 * Loads the client of the server only here, because a tool on an embedded log does not need it.
 * @throws StartupError, also if a newer or an older release has written the log
 */
export async function openServerLog(
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
    answerWithinMs: patientAnswerTimeoutMs,
    readWithinMs: patientAnswerTimeoutMs,
    log: toolLog,
  });
  await checkLogFormat(opened).catch(closing(opened));
  return opened;
}

/** Closes the store after a failure, which is thrown again. */
export function closing(opened: EventStoreDbEventStore): (error: unknown) => Promise<never> {
  return async (error) => {
    await opened.close();
    throw error;
  };
}
