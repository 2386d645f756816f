import { startEmbeddedProjections } from '#read-store/embedded-projections.ts';
import type { Log } from '#read-store/log.ts';
import type { ProjectionsProgress } from '#read-store/projections-progress.ts';
import type { ProjectorEvents } from '#read-store/projector-messages.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { openSqliteReadStore } from '#read-store/sqlite/sqlite-read-store.ts';
import type { Config } from './config.ts';
import { StartFailure } from './start-failure.ts';

/** The read models, open. */
export interface OpenedReadStore {
  readonly documents: ReadStore;
  readonly projections: ProjectionsProgress;
  /** Stores when keys were last used, each unless a later time stands. @throws Unavailable */
  readonly saveKeysLastUsed: (times: ReadonlyMap<string, string>) => Promise<void>;
}

/** What the read models are made from, and who is told how that goes. */
export interface ReadStoreSurroundings {
  readonly forProjector: () => ProjectorEvents;
  readonly log: Log;
  /** Takes what must be closed. */
  readonly opened: AsyncDisposableStack;
}

/**
 * Opens the read store that the configuration names, and starts the projections if they are this node's.
 * @throws StartFailure
 */
export async function openReadStore(
  { readStore }: Config,
  surroundings: ReadStoreSurroundings,
): Promise<OpenedReadStore> {
  if (readStore.kind === 'mongodb') throw new StartFailure('READ_STORE_URL: MongoDB is not opened yet.');
  return openEmbedded(readStore.path, surroundings);
}

async function openEmbedded(
  file: string,
  { forProjector, log, opened }: ReadStoreSurroundings,
): Promise<OpenedReadStore> {
  const projections = await startEmbeddedProjections({
    events: forProjector,
    readStore: { kind: 'sqlite', file },
    log,
  });
  opened.defer(() => projections.close());
  const documents = openSqliteReadStore(file, { onCommit: (listener) => projections.onCommit(listener) });
  opened.defer(() => documents.close());
  return { documents, projections, saveKeysLastUsed: (times) => projections.saveKeysLastUsed(times) };
}
