import type { Config } from '#app/config.ts';
import { type DataDirectory, openDataDirectory } from '#app/data-directory.ts';
import { makeOldFilesPrivate } from '#app/files/private-files.ts';
import { lockStoreFile } from '#app/files/store-file-lock.ts';
import { createNodeName } from '#app/node-name.ts';
import { isBootstrapped } from '#app/startup/bootstrap.ts';
import { waitForStore } from '#app/startup/wait-for-store.ts';
import { type KeyUsage, openKeyUsage } from '#application/access/key-usage.ts';
import { StateFollower } from '#application/commands/state-follower.ts';
import { StreamWriter } from '#application/commands/stream-writer.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import type { EventStore } from '#event-store/event-store.ts';
import type { StreamRemoval } from '#event-store/stream-removal.ts';
import type { RawLog } from '#event-store/transfer/raw-log.ts';
import { createMetrics, type Metrics } from '#http/routes/metrics.ts';
import type { LeaseStore } from '#leases/lease-store.ts';
import { PersonalData } from '#personal-data/personal-data.ts';
import type { PositionSink, Positions } from '#positions/positions.ts';
import type { CheckpointStore } from '#process-engine/checkpoints/checkpoint-store.ts';
import type { ProjectionsProgress } from '#projection-engine/progress/projections-progress.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import type { DebugLogger } from '#shared/logging/logger.ts';
import { MongoDbAvailabilities } from './mongodb-availabilities.ts';
import { openBlobStore } from './open-blob-store.ts';
import { createCheckpointOpener, type OpenCheckpoints } from './open-checkpoints.ts';
import { openEventStore } from './open-event-store.ts';
import { hasReadModels, openReadStore } from './open-read-store.ts';
import { openSubjectKeys } from './open-subject-keys.ts';
import { openWebhookStores, type WebhookStores } from './open-webhooks.ts';

/** All stores of a service, and their readers and writers. */
export interface Stores {
  readonly directory: DataDirectory;
  readonly metrics: Metrics;
  readonly events: EventStore & RawLog & StreamRemoval;
  readonly writer: StreamWriter;
  readonly projections: ProjectionsProgress;
  /** Who waits for read models and processes. */
  readonly positions: Positions;
  /** Where the processes of this node report their positions. */
  readonly positionSink: PositionSink;
  readonly documents: ReadStore;
  readonly keyUsage: KeyUsage;
  readonly checkpoints: CheckpointStore;
  readonly openCheckpoints: OpenCheckpoints;
  readonly leases: LeaseStore | null;
  /** The unique name of this node. */
  readonly node: string;
  readonly personalData: PersonalData;
  readonly blobs: BlobStore;
  readonly webhooks: WebhookStores;
}

/** The options of opened stores. */
export interface OpenStoresOptions {
  readonly log: DebugLogger;
  /** Receives an error from which the process cannot recover. */
  readonly onFatal: (error: Error) => void;
}

/**
 * Opens the stores. They are closed in the opposite order, so that the event store outlives its followers.
 * @throws StartupError
 */
export async function openStores(
  config: Config,
  { log, onFatal }: OpenStoresOptions,
  opened: AsyncDisposableStack,
): Promise<Stores> {
  const directory = openDataDirectory(config.dataDir);
  opened.defer(() => directory.release());
  lockStoreFiles(config, opened);
  const files = makeOldFilesPrivate(config);
  if (files.length > 0)
    log.warn({ files }, 'Other users may read these files, and their modes may not be changed here');
  const metrics = createMetrics();
  opened.defer(() => metrics.close());
  const { events, forProjector, soleWriter, checkStreamPrefix } = await openEventStore(config, {
    log,
    metrics,
    onFatal,
  });
  opened.defer(() => events.close());
  await waitForStore('EVENT_STORE_URL', log, () => events.lastPosition());
  const mongoDb = new MongoDbAvailabilities(log);
  opened.defer(() => mongoDb.close());
  const wasFilled = () => waitForStore('READ_STORE_URL', log, () => hasReadModels(config.readStore, mongoDb));
  await waitForStore('EVENT_STORE_URL', log, () => checkStreamPrefix(wasFilled));
  const node = createNodeName();
  const openCheckpoints = await createCheckpointOpener(config, mongoDb);
  const checkpoints = openCheckpoints();
  opened.defer(() => checkpoints.close());
  const readStore = await openReadStore(config, { forProjector, events, checkpoints, node, mongoDb, log, opened });
  const { documents, saveKeysLastUsed, snapshots, ...followed } = readStore;
  const writer = new StreamWriter({ store: events, soleWriter, snapshots });
  if (!soleWriter) {
    const states = new StateFollower({ store: events, writer, log });
    states.start();
    opened.defer(() => states.stop());
  }
  const keyUsage = openKeyUsage({ readStore: documents, save: saveKeysLastUsed, log });
  opened.defer(() => keyUsage.close());
  const isLogBegun = () => waitForStore('EVENT_STORE_URL', log, () => isBootstrapped(writer));
  const subjectKeys = await openSubjectKeys(config, { isLogBegun, mongoDb, log });
  opened.defer(() => subjectKeys.close());
  const personalData = new PersonalData(subjectKeys);
  const blobs = await openBlobStore(config, mongoDb);
  opened.defer(() => blobs.close());
  const webhooks = await openWebhookStores(config, { mongoDb, opened });
  const read = { ...followed, documents, keyUsage, checkpoints, openCheckpoints, personalData };
  return { directory, metrics, events, writer, node, blobs, webhooks, ...read };
}

/** Locks the files of embedded stores against other processes. @throws StartupError */
function lockStoreFiles({ eventStore, readStore }: Config, opened: AsyncDisposableStack): void {
  const lock = (store: Config['eventStore'] | Config['readStore'], variable: string) => {
    if (store.kind !== 'sqlite') return;
    const taken = lockStoreFile(store.path, variable);
    opened.defer(() => taken.release());
  };
  lock(eventStore, 'EVENT_STORE_URL');
  lock(readStore, 'READ_STORE_URL');
}
