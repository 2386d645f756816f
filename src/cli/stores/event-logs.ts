import { dirname } from 'node:path';
import { checkFolderFormat, recordFolderFormat } from '#app/files/folder-format.ts';
import { lockStoreFile } from '#app/files/store-file-lock.ts';
import { recordLogFormat } from '#app/log-format.ts';
import { waitForStore } from '#app/startup/wait-for-stores.ts';
import type { EventStoreConfig } from '#app/store-config.ts';
import { closing, type OpenedLog, openLogFile, openServerLog, toolLog } from '#app/stores/open-log.ts';
import type { EventStore } from '#event-store/event-store.ts';
import type { LogPages } from '#event-store/log-pages.ts';
import { asStored, type Upcast } from '#event-store/recorded-event.ts';
import { openSqliteLogTarget } from '#event-store/sqlite/sqlite-log-target.ts';
import { AppendLogTarget } from '#event-store/transfer/append-log-target.ts';
import type { LogTarget, RawLog } from '#event-store/transfer/raw-log.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { makeFolder } from '#shared/files/make-folder.ts';

export interface OpenedStreams {
  readonly streams: Pick<EventStore, 'read'> & LogPages & RawLog;
  readonly close: () => Promise<void>;
}

/**
 * Opens a log on which a service may run on the log.
 * @param upcast without it data comes as stored
 * @throws StartupError
 */
export async function openStreams(store: EventStoreConfig, upcast: Upcast = asStored): Promise<OpenedStreams> {
  if (store.kind === 'sqlite') {
    const reader = openLogFile(store.path, upcast);
    return { streams: reader, close: () => reader.close() };
  }
  const opened = await openServerLog(store, upcast);
  return { streams: opened, close: () => opened.close() };
}

/**
 * Opens the log that an import fills. An embedded log's file is locked for this process; its folder is created if
 * needed.
 * @throws StartupError if another process has the file, if the folder cannot be created, or if another release wrote it
 */
export async function openTarget(store: EventStoreConfig): Promise<OpenedLog<LogTarget>> {
  if (store.kind !== 'sqlite') {
    const opened = await openServerLog(store);
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
function makeTargetFolder(path: string): void {
  try {
    makeFolder(path);
  } catch (error) {
    throw new StartupError(`The folder ${path} cannot be made (${error}); name another.`, { cause: error });
  }
}
