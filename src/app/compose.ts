import type { KeyResolver } from '#application/access/key-resolver.ts';
import { PageSessions } from '#application/access/page-sessions.ts';
import { VersionComparer } from '#application/diffs/version-comparer.ts';
import { StreamHistory } from '#application/history/stream-history.ts';
import type { AnyOperation } from '#application/operations/operation.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import type { PublishedKey } from '#digests/digest-keys.ts';
import type { EventStore } from '#event-store/event-store.ts';
import type { LogChange } from '#event-store/log-doubts.ts';
import { Admission } from '#exchange/admission.ts';
import { gatewayOperations } from '#gateway/operations.ts';
import { SessionCookie } from '#http/request/session-cookie.ts';
import type { Readiness } from '#http/routes/health.ts';
import type { Metrics } from '#http/routes/metrics.ts';
import { type Process, reactingProcesses } from '#process-engine/process.ts';
import { processTable } from '#processes/table.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import type { DebugLogger } from '#shared/logging/logger.ts';
import type { Config } from './config.ts';
import type { DataDirectory } from './data-directory.ts';
import { OpenedParts } from './opened-parts.ts';
import { createBindOperations, openFileSpace } from './parts/bind-operations.ts';
import { gatewayLimits } from './parts/body-limits.ts';
import { changedLimits } from './parts/changed-limits.ts';
import { type GatewaySource, lineCallsThrough, openGateway, readGatewaySource } from './parts/open-gateway.ts';
import { openLiveFeed } from './parts/open-live-feed.ts';
import { openUsageArchive } from './parts/open-usage-archive.ts';
import { loadFullTable, loadGatewayTable } from './parts/operation-tables.ts';
import { startFollowers, startSharedWork } from './parts/run-background.ts';
import { createRequestSender } from './parts/run-webhooks.ts';
import { startLagMonitor } from './progress.ts';
import { type AsOf, refuseAsOf, refuseWrites } from './read-only.ts';
import { createReadiness } from './readiness.ts';
import type { Runtime } from './runtime.ts';
import { bootstrapEmptyStore } from './startup/first-start.ts';
import { openDigestFolder } from './stores/open-digest-folder.ts';
import { openReadOnlyStores } from './stores/open-read-only-stores.ts';
import { openStores, type Stores } from './stores/open-stores.ts';
import { verifyInThread } from './verification/verify-in-thread.ts';

/** The running service behind its listeners. */
export interface Service {
  /** Nodes without the role `control-plane` answer only the operations of the gateway. */
  readonly operations: ReadonlyArray<AnyOperation>;
  /** Loads all operations, which the control socket of every node answers. */
  readonly loadLocalOperations: () => Promise<ReadonlyArray<AnyOperation>>;
  /** The past moment that the service shows; null for a normal service. */
  readonly asOf: AsOf | null;
  readonly reloadGateway: () => Promise<void>;
  /** Empty on a node that does not serve the gateway. */
  readonly models: ReadonlyArray<string>;
  readonly keys: KeyResolver;
  readonly sessions: PageSessions;
  readonly sessionCookie: SessionCookie;
  readonly events: EventStore;
  readonly documents: ReadStore;
  readonly blobs: BlobStore;
  readonly directory: DataDirectory;
  readonly readiness: Readiness;
  readonly digestKeys: ReadonlyArray<PublishedKey>;
  readonly metrics: Metrics;
  readonly admission: Admission;
  /** Ends the live feeds, because they would keep their connections open while the process stops. */
  readonly endFeeds: () => void;
  /**
   * Finishes running work, and closes everything in the reverse order of opening.
   * @returns the names of what has not ended within the limit, 5 s at most, and is left
   */
  readonly close: (limitMs?: number) => Promise<ReadonlyArray<string>>;
}

/** What a service needs in addition to the configuration. */
export interface ComposeOptions {
  readonly log: DebugLogger;
  /** Prints the key that a first start makes. */
  readonly printAdminKey: (key: string) => void;
  /** Called when the process must stop, and its supervisor must start it again. */
  readonly onFatal: (error: Error) => void;
  /** Called once if the log no longer has what was read of it. The service must then be closed, and opened again. */
  readonly onLogChanged?: (change: LogChange) => void;
}

/** `src/app/stores/` names the concrete adapters. @throws StartupError with one clear line */
export async function compose(config: Config, options: ComposeOptions): Promise<Service> {
  const opened = new OpenedParts();
  const admission = new Admission({ limits: changedLimits(config.limits) });
  try {
    return await (config.readOnly ? openReadOnlyService : openLiveService)(config, { ...options, admission }, opened);
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

interface OpenOptions extends ComposeOptions {
  readonly admission: Admission;
}

async function openLiveService(config: Config, options: OpenOptions, opened: OpenedParts): Promise<Service> {
  refuseAsOf(config.dataDir);
  // Comes before the stores: a start that must fail makes no key.
  const gatewaySource = await readGatewaySource(config, options.log);
  const stores = await openStores(config, options, opened);
  if (options.onLogChanged !== undefined) stores.tail.onChanged(options.onLogChanged);
  if (config.roles.has('control-plane')) {
    const { log, printAdminKey } = options;
    await bootstrapEmptyStore({ ...stores, givenKey: config.bootstrapApiKey, printAdminKey, log });
  }
  const processes = processTable(stores.personalData, stores.blobs, stores.responses);
  const { admission, log } = options;
  return openService(config, { ...stores, admission, gatewaySource, processes, log, opened });
}

/** Opens a service that shows a past moment: it runs no processes and delivers no webhooks. */
async function openReadOnlyService(config: Config, options: OpenOptions, opened: OpenedParts): Promise<Service> {
  const { admission, log } = options;
  const { asOf, ...stores } = await openReadOnlyStores(config, options, opened);
  const service = await openService(
    { ...config, roles: new Set() },
    {
      ...stores,
      admission,
      gatewaySource: null,
      processes: [],
      log,
      opened,
    },
  );
  const operations = refuseWrites(service.operations, asOf);
  return { ...service, asOf, operations, loadLocalOperations: async () => operations };
}

interface Foundation extends Stores {
  readonly admission: Admission;
  /** Null on a node that calls no models. */
  readonly gatewaySource: GatewaySource | null;
  readonly processes: ReadonlyArray<Process>;
  readonly log: DebugLogger;
  readonly opened: OpenedParts;
}

/** Opens the service on its stores, and starts the roles of this node. */
async function openService(config: Config, foundation: Foundation): Promise<Service> {
  const { admission, events, metrics, opened, gatewaySource, processes } = foundation;
  const { limits, roles } = config;
  metrics.watchLimits(() => admission.figures());
  const started: Runtime = { ...foundation, config, history: new StreamHistory(events) };
  const { runtime, processStatuses, keys } = await startFollowers(started, processes);
  const calls = openGateway(gatewaySource, runtime);
  const gateway = calls?.gateway ?? null;
  const space = openFileSpace(runtime);
  const { batchesRun, digests, webhookTries } = await startSharedWork(runtime, {
    lineCalls: lineCallsThrough(gateway, runtime),
    space,
    createSender: createRequestSender,
    folder: openDigestFolder(config.digestDir),
    verify: verifyInThread,
  });
  const archiveUsage = openUsageArchive(runtime);
  const comparer = new VersionComparer({ admission });
  opened.defer(() => comparer.close());
  const bind = createBindOperations({
    ...runtime,
    reacting: reactingProcesses(processes),
    processStatuses,
    space,
    batchesRun,
    webhookTries,
    digests,
    comparer,
    lag: startLagMonitor(runtime),
    gatewayHealth: () => gateway?.health() ?? null,
  });
  const sessions = new PageSessions({ records: runtime.records, keys });
  const sessionCookie = new SessionCookie(config.publicUrl);
  const live = openLiveFeed(runtime, { keys, sessions, sessionCookie });
  const relaying = roles.has('gateway') ? gateway : null;
  const unlisted = [archiveUsage, live.operation, ...gatewayOperations(relaying, gatewayLimits(limits))];
  const loadAll = async () => [...bind(await loadFullTable()), ...unlisted];
  const answersAll = roles.has('control-plane') || config.readOnly;
  const operations = answersAll ? await loadAll() : [...bind(await loadGatewayTable()), ...unlisted];
  return {
    operations,
    loadLocalOperations: answersAll ? async () => operations : loadAll,
    asOf: null,
    endFeeds: () => live.feed.stop(),
    reloadGateway: async () => calls?.reload(),
    models: relaying?.modelNames() ?? [],
    keys,
    sessions,
    sessionCookie,
    events,
    documents: runtime.documents,
    blobs: foundation.blobs,
    directory: foundation.directory,
    readiness: createReadiness({
      ...foundation,
      processes: processStatuses,
      batchesRun,
      verification: digests.verification,
    }),
    digestKeys: digests.publishedKeys,
    metrics,
    admission,
    close: (limitMs) => opened.close(limitMs),
  };
}
