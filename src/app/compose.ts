import type { Logger } from 'pino';
import { ByteBudget } from '#application/access/byte-budget.ts';
import { descendantKeysOf } from '#application/access/key-descendants.ts';
import type { KeyResolver } from '#application/access/key-resolver.ts';
import { type KeyUsage, openKeyUsage } from '#application/access/key-usage.ts';
import { Claims } from '#application/commands/claims.ts';
import type { Lookup } from '#application/commands/command.ts';
import { commandOperation } from '#application/commands/command-handler.ts';
import { createWaitForReadModels } from '#application/commands/read-your-writes.ts';
import { StreamWriter } from '#application/commands/stream-writer.ts';
import type { AnyOperation, Operation } from '#application/operations/operation.ts';
import { type QueryDependencies, queryOperation } from '#application/queries/query-handler.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import { commands } from '#commands/table.ts';
import type { EventStore } from '#event-store/event-store.ts';
import type { GatewayLimits } from '#gateway/gateway-call.ts';
import { gatewayOperations } from '#gateway/operations.ts';
import type { Readiness } from '#http/routes/health.ts';
import { createMetrics, type Metrics, type ProjectionLag, type Stopped } from '#http/routes/metrics.ts';
import type { LeaseStore } from '#leases/lease-store.ts';
import { PersonalData } from '#personal-data/personal-data.ts';
import type { CheckpointStore } from '#process-engine/checkpoints/checkpoint-store.ts';
import type { Process } from '#process-engine/process.ts';
import type { ProcessProgress } from '#process-engine/process-progress.ts';
import { type ProcessStatus, ProcessStatuses } from '#process-engine/process-statuses.ts';
import { processTable } from '#processes/table.ts';
import type { ProjectionsProgress } from '#projection-engine/progress/projections-progress.ts';
import { eventTypesOf } from '#projection-engine/projection.ts';
import { projections as projectionTable } from '#projections/table.ts';
import { queries } from '#queries/table.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { readyOnly } from '#read-store/ready-read-store.ts';
import { withTimeout } from '#shared/async/with-timeout.ts';
import { openMetering } from '#usage/metering.ts';
import type { Config, Limits } from './config.ts';
import { type DataDirectory, openDataDirectory } from './data-directory.ts';
import { makeOldFilesPrivate } from './files/private-files.ts';
import { lockStoreFile } from './files/store-file-lock.ts';
import { createNodeName } from './node-name.ts';
import { createReadiness } from './readiness.ts';
import { isBootstrapped } from './startup/bootstrap.ts';
import { bootstrapEmptyStore } from './startup/first-start.ts';
import { waitForReadModels } from './startup/wait-for-read-models.ts';
import { waitForStore } from './startup/wait-for-store.ts';
import { openBlobStore } from './stores/open-blob-store.ts';
import { createCheckpointOpener, type OpenCheckpoints } from './stores/open-checkpoints.ts';
import { openEventStore } from './stores/open-event-store.ts';
import { type OpenGateway, openGateway } from './stores/open-gateway.ts';
import { openKeyResolver } from './stores/open-key-resolver.ts';
import { openReadStore } from './stores/open-read-store.ts';
import { openSpools } from './stores/open-spools.ts';
import { openSubjectKeys } from './stores/open-subject-keys.ts';
import { runProcesses, runProcessesUnderLeases, watchProcesses } from './stores/run-processes.ts';

/** Everything behind the faces, running. */
export interface Service {
  readonly operations: ReadonlyArray<AnyOperation>;
  /** Reads the gateway's configuration again. */
  readonly reloadGateway: () => Promise<void>;
  readonly keys: KeyResolver;
  readonly events: EventStore;
  readonly documents: ReadStore;
  readonly blobs: BlobStore;
  readonly directory: DataDirectory;
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  /** Counts the bytes that bodies hold in memory. */
  readonly bodies: ByteBudget;
  /** Finishes what runs and closes everything, the last opened first. */
  readonly close: () => Promise<void>;
}

/** What the composition root is told beside the configuration. */
export interface ComposeOptions {
  readonly log: Logger;
  /** Is handed the admin key that a first start makes. */
  readonly printAdminKey: (key: string) => void;
  /** Receives what the process cannot recover from: the process is to stop, and whoever watches it to start it again. */
  readonly onFatal: (error: Error) => void;
}

const handledTypes = [...new Set(projectionTable.flatMap(eventTypesOf))];
/** How long a process waits for a read model before it tries again; a stop waits as long at most. */
const upToDateMilliseconds = 2_000;
/** How long the metrics wait for the end of the log. */
const lagMilliseconds = 1_000;

/**
 * Opens the stores and puts the service together on them. `src/app/stores/` names the concrete adapters.
 * @throws StartupError with one clear line
 */
export async function compose(config: Config, options: ComposeOptions): Promise<Service> {
  const opened = new AsyncDisposableStack();
  try {
    const stores = await openStores(config, options, opened);
    const { handler } = stores;
    if (config.roles.has('control-plane')) {
      const { log, printAdminKey } = options;
      await bootstrapEmptyStore({ ...stores, givenKey: config.bootstrapApiKey, printAdminKey, log });
    }
    const processes = processTable(stores.personalData);
    const progress = startProcesses(processes, stores, config, handler, options.log, opened);
    const statuses = new ProcessStatuses({ processes, store: stores.events, checkpoints: stores.checkpoints });
    const { directory, events, projections, metrics } = stores;
    await waitForReadModels(projections, events, config.limits.showMilliseconds);
    const documents = readyOnly(stores.documents, projections);
    const bodies = new ByteBudget(config.limits.bodies);
    metrics.watchBytes(
      'switchyard_body_bytes_in_flight',
      'Bytes that bodies of requests hold in memory',
      () => bodies.bytes,
    );
    const keys = openKeyResolver({ ...stores, documents, log: options.log, opened });
    metrics.watchProjections(() => projectionLags(events, projections));
    metrics.watchUnknownEvents(() =>
      withTimeout(lagMilliseconds, stores.documents.unknownEvents(), []).catch(() => []),
    );
    metrics.watchStopped(async () => [...stoppedProjections(projections), ...(await stoppedProcesses(statuses))]);
    const gateway = config.roles.has('gateway') ? await openMeteredGateway(config, stores, options.log, opened) : null;
    const operations = bindOperations({ ...stores, documents }, handler, { progress, statuses }, config.limits);
    const relayed = gatewayOperations(gateway?.gateway ?? null, gatewayLimits(config.limits));
    return {
      operations: [...operations, ...relayed],
      reloadGateway: async () => gateway?.reload(),
      keys,
      events,
      documents,
      blobs: stores.blobs,
      directory,
      readiness: createReadiness({ ...stores, processes: statuses }),
      metrics,
      bodies,
      close: () => opened.disposeAsync(),
    };
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

/** The gateway and what its calls are counted by, which is closed after it. */
async function openMeteredGateway(
  config: Config,
  { metrics, events, node }: Stores,
  log: Logger,
  opened: AsyncDisposableStack,
): Promise<OpenGateway> {
  const metering = openMetering({ registry: metrics.registry, events, node, log });
  opened.defer(() => metering.close());
  const gateway = await openGateway(config, log, metering.usage, openSpools(config, metrics));
  opened.defer(() => gateway.close());
  return gateway;
}

function gatewayLimits(limits: Limits): GatewayLimits {
  const { maxJsonBytes, maxGatewayValues, maxAudioBytes, idleMilliseconds, uploadMilliseconds } = limits;
  const arrival = { idleMs: idleMilliseconds, totalMs: uploadMilliseconds };
  return { maxJsonBytes, maxJsonValues: maxGatewayValues, maxAudioBytes, arrival };
}

interface Stores {
  readonly directory: DataDirectory;
  readonly metrics: Metrics;
  readonly events: EventStore;
  readonly handler: StreamWriter;
  readonly projections: ProjectionsProgress;
  readonly documents: ReadStore;
  readonly keyUsage: KeyUsage;
  readonly checkpoints: CheckpointStore;
  readonly openCheckpoints: OpenCheckpoints;
  readonly leases: LeaseStore | null;
  /** This node's name, unlike any other's. */
  readonly node: string;
  readonly personalData: PersonalData;
  readonly blobs: BlobStore;
}

/** What is opened is closed in the opposite order: the event store outlives those who follow it. */
async function openStores(
  config: Config,
  { log, onFatal }: ComposeOptions,
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
  const { events, forProjector, soleWriter } = await openEventStore(config, { log, metrics, onFatal });
  opened.defer(() => events.close());
  await waitForStore('EVENT_STORE_URL', log, () => events.lastPosition());
  const node = createNodeName();
  const { documents, projections, saveKeysLastUsed, snapshots, leases } = await openReadStore(config, {
    forProjector,
    node,
    log,
    opened,
  });
  const handler = new StreamWriter({ store: events, soleWriter, snapshots });
  const keyUsage = openKeyUsage({ readStore: documents, save: saveKeysLastUsed, log });
  opened.defer(() => keyUsage.close());
  const openCheckpoints = await createCheckpointOpener(config);
  const checkpoints = openCheckpoints();
  opened.defer(() => checkpoints.close());
  const isLogBegun = () => waitForStore('EVENT_STORE_URL', log, () => isBootstrapped(handler));
  const subjectKeys = await openSubjectKeys(config, { isLogBegun, log });
  opened.defer(() => subjectKeys.close());
  const personalData = new PersonalData(subjectKeys);
  const blobs = await openBlobStore(config);
  opened.defer(() => blobs.close());
  const read = { projections, documents, keyUsage, checkpoints, openCheckpoints, leases, personalData };
  return { directory, metrics, events, handler, node, blobs, ...read };
}

/** Keeps every other process from the files of embedded stores. @throws StartupError */
function lockStoreFiles({ eventStore, readStore }: Config, opened: AsyncDisposableStack): void {
  const lock = (store: Config['eventStore'] | Config['readStore'], variable: string) => {
    if (store.kind !== 'sqlite') return;
    const taken = lockStoreFile(store.path, variable);
    opened.defer(() => taken.release());
  };
  lock(eventStore, 'EVENT_STORE_URL');
  lock(readStore, 'READ_STORE_URL');
}

/** Starts the processes that are this node's. @returns how far all are, whichever node runs them */
function startProcesses(
  processes: ReadonlyArray<Process>,
  { events, documents, checkpoints, openCheckpoints, projections, leases, node }: Stores,
  { roles }: Config,
  handler: StreamWriter,
  log: Logger,
  opened: AsyncDisposableStack,
): ReadonlyArray<ProcessProgress> {
  const reached = (collection: string, position: number) =>
    hasReached(projections, [collection], position, upToDateMilliseconds);
  const surroundings = { store: events, handler, documents, checkpoints, reached, log, opened };
  if (leases === null) return runProcesses(processes, surroundings);
  if (roles.has('projections')) {
    runProcessesUnderLeases(processes, { ...surroundings, leases, node, openCheckpoints });
  }
  return watchProcesses(processes, surroundings);
}

/** The processes as requests see them. */
interface ProcessesAtWork {
  readonly progress: ReadonlyArray<ProcessProgress>;
  readonly statuses: ProcessStatuses;
}

function bindOperations(
  { events, documents, projections, keyUsage, personalData }: Stores,
  handler: StreamWriter,
  processes: ProcessesAtWork,
  { maxAppendBytes, maxFilledBytes, showMilliseconds }: Limits,
): ReadonlyArray<Operation> {
  const projectionStatus = async () => projections.status();
  const processStatus = () => processes.statuses.read();
  const commandRuntime = {
    handler,
    claims: new Claims(handler),
    lookup: lookupIn(documents, keyUsage, { projectionStatus, processStatus }),
    personalData,
    maxAppendBytes,
    maxFilledBytes,
    waitForReadModels: createWaitForReadModels(processes.progress, projections, handledTypes, showMilliseconds),
  };
  const queryRuntime = {
    documents,
    keyUsage,
    personalData,
    projectionStatus,
    processStatus,
    reached: (names: ReadonlyArray<string>, position: number) =>
      hasReached(projections, names, position, showMilliseconds),
    lastPosition: () => withTimeout(lagMilliseconds, events.lastPosition(), null).catch(() => null),
  };
  return [
    ...commands.map((command) => commandOperation(command, commandRuntime)),
    ...queries.map((query) => queryOperation(query, queryRuntime)),
  ];
}

async function hasReached(
  projections: ProjectionsProgress,
  names: ReadonlyArray<string>,
  position: number,
  milliseconds: number,
): Promise<boolean> {
  return (await projections.waitForProjections(names, position, milliseconds)) === 'reached';
}

function lookupIn(
  documents: ReadStore,
  keyUsage: KeyUsage,
  { projectionStatus, processStatus }: Pick<QueryDependencies, 'projectionStatus' | 'processStatus'>,
): Lookup {
  return {
    exists: async (collection, where) =>
      (await documents.list(collection, where, { limit: 1, maxBytes: 1 })).documents.length > 0,
    descendantKeys: (keyId, limit) => descendantKeysOf(keyId, documents, limit),
    keyLastUsed: async (keyId) => (await keyUsage.lastUsed([keyId])).get(keyId) ?? null,
    projection: async (name) => (await projectionStatus()).find((status) => status.name === name) ?? null,
    process: async (name) => (await processStatus()).find((status) => status.name === name) ?? null,
  };
}

function stoppedProjections(progress: ProjectionsProgress): ReadonlyArray<Stopped> {
  return progress.status().flatMap((status) => stopped('projection', status));
}

/** None while their checkpoints cannot be read: the other metrics are wanted then most of all. */
async function stoppedProcesses(statuses: ProcessStatuses): Promise<ReadonlyArray<Stopped>> {
  const all = await withTimeout(lagMilliseconds, statuses.read(), []).catch(() => []);
  return all.flatMap((status) => stopped('process', status));
}

function stopped(
  kind: Stopped['kind'],
  { name, failure }: Pick<ProcessStatus, 'name' | 'failure'>,
): ReadonlyArray<Stopped> {
  return failure === null ? [] : [{ kind, name, eventId: failure.eventId, position: failure.position }];
}

/** None while the event store does not answer: the other metrics are wanted then most of all. */
async function projectionLags(
  events: EventStore,
  progress: ProjectionsProgress,
): Promise<ReadonlyArray<ProjectionLag>> {
  const end = await withTimeout(lagMilliseconds, events.lastPosition(), null).catch(() => null);
  if (end === null) return [];
  return progress.status().map(({ name, position }) => ({ name, positions: end - position }));
}
