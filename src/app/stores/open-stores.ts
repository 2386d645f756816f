import { type Config, createNodeName } from '#app/config.ts';
import { type DataDirectory, openDataDirectory } from '#app/data-directory.ts';
import { checkDatabaseFormat, recordDatabaseFormat } from '#app/database-format.ts';
import { recordFolderFormat } from '#app/files/folder-format.ts';
import { makeOldFilesPrivate } from '#app/files/private-files.ts';
import { lockStoreFile } from '#app/files/store-file-lock.ts';
import type { OpenedParts } from '#app/opened-parts.ts';
import { isBootstrapped } from '#app/startup/bootstrap.ts';
import { waitForStore } from '#app/startup/wait-for-stores.ts';
import { KeyUsage } from '#application/access/key-usage.ts';
import { RecordSnapshots } from '#application/streams/stream-snapshots.ts';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import type { EventStore } from '#event-store/event-store.ts';
import type { LogTail } from '#event-store/log-tail.ts';
import type { StreamRemoval } from '#event-store/stream-removal.ts';
import type { RawLog } from '#event-store/transfer/raw-log.ts';
import type { Admission } from '#exchange/admission.ts';
import { createMetrics, type Metrics } from '#http/routes/metrics.ts';
import type { Leases } from '#leases/leases.ts';
import type { MongoDbConnection } from '#mongodb/mongodb-connection.ts';
import { PersonalData } from '#personal-data/personal-data.ts';
import type { PositionSink, Positions } from '#positions/positions.ts';
import { ProcessCheckpoints } from '#process-engine/process-checkpoints.ts';
import type { ProjectionsProgress } from '#projection-engine/progress/projections-progress.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import type { RecordStore } from '#records/record-store.ts';
import type { StoredResponses } from '#responses/stored-responses.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import type { DebugLogger } from '#shared/logging/logger.ts';
import type { CallLog } from '#usage/call-log/call-log.ts';
import { openMongoDbConnections } from './mongodb-connections.ts';
import { openBlobStore } from './open-blob-store.ts';
import { openEventStore } from './open-event-store.ts';
import { hasReadModels, openReadStore } from './open-read-store.ts';
import { openEmbeddedRecords, openSharedRecords } from './open-records.ts';
import { openSubjectKeys } from './open-subject-keys.ts';
import { openWebhookStores, type WebhookStores } from './open-webhooks.ts';
import { openCallLog, openStoredResponses } from './small-stores.ts';

export interface Stores {
  readonly directory: DataDirectory;
  readonly metrics: Metrics;
  readonly events: EventStore & RawLog & StreamRemoval;
  /** Throws if this service may not append to the log. @throws UnavailableError */
  readonly ensureWritable: () => Promise<void>;
  /** The one reader of the log in this thread. */
  readonly tail: LogTail;
  readonly writer: StreamWriter;
  readonly projections: ProjectionsProgress;
  readonly positions: Positions;
  /** Receives the positions of this node's processes. */
  readonly positionSink: PositionSink;
  readonly documents: ReadStore;
  /** Small records, such as the checkpoints of processes. */
  readonly records: RecordStore;
  readonly keyUsage: KeyUsage;
  readonly checkpoints: ProcessCheckpoints;
  readonly leases: Leases | null;
  readonly node: string;
  readonly personalData: PersonalData;
  readonly blobs: BlobStore;
  readonly webhooks: WebhookStores;
  readonly calls: CallLog;
  readonly responses: StoredResponses;
}

export interface OpenStoresOptions {
  readonly admission: Admission;
  readonly log: DebugLogger;
  /** Called when the process cannot recover. */
  readonly onFatal: (error: Error) => void;
}

/**
 * Opens the stores. They are closed in the opposite order, so that the event store outlives its followers.
 * @throws StartupError
 */
export async function openStores(
  config: Config,
  { admission, log, onFatal }: OpenStoresOptions,
  opened: OpenedParts,
): Promise<Stores> {
  const directory = openDataDirectory(config.dataDir);
  opened.defer(() => directory.release());
  lockStoreFiles(config, opened);
  const files = makeOldFilesPrivate(config);
  if (files.length > 0)
    log.warn({ files }, 'Other users may read these files, and their modes may not be changed here');
  const metrics = createMetrics();
  opened.defer(() => metrics.close());
  const mongoDb = openMongoDbConnections(config, log, metrics);
  opened.defer(() => mongoDb.close());
  const { readStore: documents } = config;
  const shared = documents.kind === 'mongodb' ? await openSharedRecords(documents.url, mongoDb, opened) : null;
  // Every format is checked before any number is written, because the release to go through would refuse a newer number.
  if (shared !== null) await waitForStore('READ_STORE_URL', log, () => checkDatabaseFormat(shared, 'READ_STORE_URL'));
  const opening = await openEventStore(config, { admission, log, metrics, onFatal });
  const { events, tail, forProjector, soleWriter, checkStreamPrefix, ensureWritable, format } = opening;
  opened.defer(() => events.close());
  opened.defer(() => tail.close());
  await waitForStore('EVENT_STORE_URL', log, () => events.lastPosition());
  await waitForStore('EVENT_STORE_URL', log, () => format.check());
  recordFolderFormat(directory.path);
  const node = createNodeName();
  if (shared !== null) {
    await ensureUserActions(shared.connection, node, log);
    await waitForStore('READ_STORE_URL', log, () => recordDatabaseFormat(shared, 'READ_STORE_URL'));
  }
  const { records, place } = shared ?? openEmbeddedRecords(directory.path, { admission, onFatal }, opened);
  const wasFilled = () => waitForStore('READ_STORE_URL', log, () => hasReadModels(config.readStore, records));
  await waitForStore('EVENT_STORE_URL', log, () => checkStreamPrefix(wasFilled));
  await waitForStore('EVENT_STORE_URL', log, () => format.record());
  const readStore = await openReadStore(config, {
    admission,
    forProjector,
    tail,
    node,
    records,
    metrics,
    mongoDb,
    log,
    opened,
  });
  const snapshots = new RecordSnapshots(records);
  const writer = new StreamWriter({ store: events, soleWriter, snapshots });
  if (!soleWriter) followStates(tail, writer, opened);
  const keyUsage = new KeyUsage({ records, log });
  opened.addBuffer('key-usage', keyUsage);
  const checkpoints = new ProcessCheckpoints(records);
  const isLogBegun = () => waitForStore('EVENT_STORE_URL', log, () => isBootstrapped(writer));
  const subjectKeys = await openSubjectKeys(place, { isLogBegun, log });
  opened.defer(() => subjectKeys.close());
  const personalData = new PersonalData(subjectKeys, log);
  const blobs = await openBlobStore(config, mongoDb);
  opened.defer(() => blobs.close());
  const webhooks = await openWebhookStores(config, { records, place, opened });
  const calls = await openCallLog(place);
  opened.defer(() => calls.close());
  const responses = await openStoredResponses(place, subjectKeys, config, admission);
  opened.defer(() => responses.close());
  const read = { ...readStore, ensureWritable, records, keyUsage, checkpoints, personalData };
  return { directory, metrics, events, tail, writer, node, blobs, webhooks, calls, responses, ...read };
}

/**
 * Checks the rights of the database user: a right that is missing would otherwise show late, and again and again.
 * @throws StartupError
 */
async function ensureUserActions(connection: MongoDbConnection, node: string, log: DebugLogger): Promise<void> {
  // It loads the driver, which a start with embedded stores does without.
  const { findRefusedActions } = await import('#mongodb/user-actions.ts');
  const refused = await waitForStore('READ_STORE_URL', log, () => findRefusedActions(connection, node));
  if (refused.length === 0) return;
  throw new StartupError(
    `READ_STORE_URL: its user lacks a right on the database: ${refused.join(', ')}. Give it the role readWrite on the database, or these actions on all of its collections.`,
  );
}

/** Updates the cached states of streams when other nodes append. Without this there are more conflicts. */
export function followStates(tail: LogTail, writer: StreamWriter, opened: AsyncDisposableStack): void {
  const stopped = new AbortController();
  const following = tail.follow({
    name: 'The cache of stream states',
    after: 'end',
    handle: ({ events }) => writer.observe(events),
    signal: stopped.signal,
  });
  opened.defer(async () => {
    stopped.abort();
    await following.ended;
  });
}

/** Locks the files against other processes. */
function lockStoreFiles({ eventStore, readStore }: Config, opened: AsyncDisposableStack): void {
  const lock = (store: Config['eventStore'] | Config['readStore'], variable: string) => {
    if (store.kind !== 'sqlite') return;
    const taken = lockStoreFile(store.path, variable);
    opened.defer(() => taken.release());
  };
  lock(eventStore, 'EVENT_STORE_URL');
  lock(readStore, 'READ_STORE_URL');
}
