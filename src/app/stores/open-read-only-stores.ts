import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import * as E from 'fp-ts/lib/Either.js';
import { type Config, createNodeName } from '#app/config.ts';
import { openDataDirectory } from '#app/data-directory.ts';
import { checkFolderFormat } from '#app/files/folder-format.ts';
import { checkLogFormat } from '#app/log-format.ts';
import { type AsOf, asOfPositions, asOfProjections, readAsOf } from '#app/read-only.ts';
import { waitForStore } from '#app/startup/wait-for-stores.ts';
import { KeyUsage } from '#application/access/key-usage.ts';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import { openFolderBlobStoreBeside } from '#blob-store/blob-store.folder.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import { isKnownEventType } from '#domain/event-codecs.ts';
import { streamKinds } from '#domain/stream-kinds.ts';
import { upcasters } from '#domain/upcasters.ts';
import { ChangeListener } from '#event-store/change-notifications.ts';
import type { EventStore } from '#event-store/event-store.ts';
import { identityOfLog } from '#event-store/log-identity.ts';
import { LogTail, type LogTailOptions } from '#event-store/log-tail.ts';
import { upcastWith } from '#event-store/recorded-event.ts';
import { checkEventFile } from '#event-store/sqlite/event-file.ts';
import { SqliteEventReader } from '#event-store/sqlite/reader.ts';
import type { StreamRemoval } from '#event-store/stream-removal.ts';
import type { RawLog } from '#event-store/transfer/raw-log.ts';
import { createMetrics } from '#http/routes/metrics.ts';
import { PersonalData } from '#personal-data/personal-data.ts';
import { ProcessCheckpoints } from '#process-engine/process-checkpoints.ts';
import { projections as projectionTable } from '#projections/table.ts';
import { openSqliteReadStore } from '#read-store/sqlite/sqlite-read-store.ts';
import { abortAfter } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { DebugLogger } from '#shared/logging/logger.ts';
import { limited } from './limited.ts';
import { type MongoDbConnections, openMongoDbConnections } from './mongodb-connections.ts';
import { openBlobStore } from './open-blob-store.ts';
import { openEmbeddedRecords } from './open-records.ts';
import { followStates, type OpenStoresOptions } from './open-stores.ts';
import { openSubjectKeys } from './open-subject-keys.ts';
import { openWebhookStores } from './open-webhooks.ts';
import { blobLimits, eventReaderLimits, readStoreLimits, serverLogLimits } from './port-limits.ts';
import { openCallLog, openStoredResponses } from './small-stores.ts';

/**
 * Time between two checks for events of another process, so that a key that is revoked there is refused here within a
 * second.
 */
const lookIntervalMs = 250;

/** The log of another process. */
interface OpenedLog {
  readonly events: EventStore & RawLog & StreamRemoval;
  readonly tail: LogTail;
  /** @throws StartupError if a newer or an older release has written the log; UnavailableError */
  readonly checkFormat: () => Promise<unknown>;
}

/**
 * Opens stores whose read models are of a past moment; the writer of the log may run. The service appends nothing, runs
 * no process and takes no lease.
 * @throws StartupError
 */
export async function openReadOnlyStores(
  config: Config,
  { admission, log, onFatal }: OpenStoresOptions,
  opened: AsyncDisposableStack,
) {
  const { readStore, dataDir } = config;
  const asOf = readAsOf(dataDir);
  if (readStore.kind !== 'sqlite' || !existsSync(readStore.path))
    throw new StartupError('READ_ONLY=true reads read.db in DATA_DIR: leave READ_STORE_URL unset.');
  ensureSameRelease(asOf);
  const directory = openDataDirectory(dataDir);
  opened.defer(() => directory.release());
  const metrics = createMetrics();
  opened.defer(() => metrics.close());
  const { events, tail, checkFormat } = await openLogBeside(config, log, opened);
  await waitForStore('EVENT_STORE_URL', log, () => events.lastPosition());
  await waitForStore('EVENT_STORE_URL', log, checkFormat);
  await ensureSameLog(tail, asOf);
  const documents = limited(openSqliteReadStore(readStore.path), readStoreLimits);
  opened.defer(() => documents.close());
  const snapshots = { read: async () => null, save: async () => undefined };
  const writer = new StreamWriter({ store: events, soleWriter: false, snapshots });
  followStates(tail, writer, opened);
  const keyUsage = new KeyUsage({ records: { all: async () => new Map(), put: async () => undefined }, log });
  opened.defer(() => keyUsage.close());
  const mongoDb = openMongoDbConnections(config, log, metrics);
  opened.defer(() => mongoDb.close());
  const { records, place } = openEmbeddedRecords(dataDir, { admission, onFatal }, opened);
  const checkpoints = new ProcessCheckpoints(records);
  const subjectKeys = await openSubjectKeys(place, { isLogBegun: async () => true, isReadOnly: true, log });
  opened.defer(() => subjectKeys.close());
  const blobs = await openBlobsBeside(config, mongoDb);
  opened.defer(() => blobs.close());
  const webhooks = await openWebhookStores(config, { records, place, opened });
  const calls = await openCallLog(place);
  opened.defer(() => calls.close());
  const responses = await openStoredResponses(place, subjectKeys, config, admission);
  opened.defer(() => responses.close());
  const positions = asOfPositions(asOf, admission);
  const read = {
    projections: asOfProjections(asOf),
    positions,
    positionSink: positions,
    documents,
    records,
    keyUsage,
    checkpoints,
    leases: null,
  };
  const personalData = new PersonalData(subjectKeys, log);
  return {
    asOf,
    directory,
    metrics,
    events,
    ensureWritable: async () => undefined,
    tail,
    writer,
    node: createNodeName(),
    blobs,
    webhooks,
    calls,
    responses,
    personalData,
    ...read,
  };
}

/** Throws for another release, because documents of another version would be read wrongly. */
function ensureSameRelease(asOf: AsOf): void {
  const versions = new Map(asOf.projections.map(({ name, version }) => [name, version]));
  const other = projectionTable.find(({ name, version }) => versions.get(name) !== version);
  if (other === undefined) return;
  throw new StartupError(
    `The read model ${other.name} in DATA_DIR was made by another release: make the folder again with npm run replay.`,
  );
}

async function ensureSameLog(tail: LogTail, asOf: AsOf): Promise<void> {
  if ((await identityOfLog(tail, abortAfter(5_000))) === asOf.log) return;
  throw new StartupError('EVENT_STORE_URL: the read models in DATA_DIR were made from another log: name that one.');
}

/** Opens the blobs without removing unfinished files, because a service may have them open. */
async function openBlobsBeside(config: Config, mongoDb: MongoDbConnections): Promise<BlobStore> {
  const { blobStore } = config;
  if (blobStore.kind === 'folder' && existsSync(blobStore.path))
    return limited(await openFolderBlobStoreBeside(blobStore.path), blobLimits);
  return openBlobStore(config, mongoDb);
}

async function openLogBeside(config: Config, log: DebugLogger, opened: AsyncDisposableStack): Promise<OpenedLog> {
  const { eventStore } = config;
  const upcast = upcastWith(upcasters, isKnownEventType);
  if (eventStore.kind === 'sqlite') return openFileBeside(eventStore.path, log, opened);
  const { url, streamPrefix } = eventStore;
  const { openEventStoreDbEventStore } = await import('#event-store/eventstoredb/eventstoredb-event-store.ts');
  const events = limited(openEventStoreDbEventStore({ url, streamPrefix, streamKinds, upcast, log }), serverLogLimits);
  opened.defer(() => events.close());
  return { events, tail: openTail(events, log, opened), checkFormat: () => checkLogFormat(events) };
}

function openFileBeside(path: string, log: DebugLogger, opened: AsyncDisposableStack): OpenedLog {
  checkFolderFormat(dirname(path));
  checkEventFile(path);
  const wakeUps = new ChangeListener();
  const opening = new SqliteEventReader(path, upcastWith(upcasters, isKnownEventType), wakeUps, () => undefined);
  const reader = limited(opening, eventReaderLimits);
  opened.defer(() => reader.close());
  // Another process writes the file, and cannot wake this one.
  const look = () =>
    reader.lastPosition().then(
      (position) => wakeUps.notify(position),
      () => undefined,
    );
  const timer = clock.setInterval(look, lookIntervalMs);
  opened.defer(() => clock.clearInterval(timer));
  const events: OpenedLog['events'] = {
    append: async () => E.left({ kind: 'unavailable', detail: 'This service is read only.', retryAfterSeconds: 1 }),
    removeStream: async () => {
      throw new UnavailableError('This service is read only.');
    },
    read: (...given) => reader.read(...given),
    readRaw: (...given) => reader.readRaw(...given),
    readRawLog: (...given) => reader.readRawLog(...given),
    streamNames: (prefix) => reader.streamNames(prefix),
    lastPosition: () => reader.lastPosition(),
    close: () => reader.close(),
  };
  return { events, tail: openTail(reader, log, opened), checkFormat: async () => undefined };
}

function openTail(pages: LogTailOptions['pages'], log: DebugLogger, opened: AsyncDisposableStack): LogTail {
  const tail = new LogTail({ pages, log });
  opened.defer(() => tail.close());
  return tail;
}
