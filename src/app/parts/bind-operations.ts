import { readEndOfLog } from '#app/progress.ts';
import type { Runtime } from '#app/runtime.ts';
import { freeSpaceOf } from '#app/stores/open-spools.ts';
import { descendantKeysOf } from '#application/access/key-follower.ts';
import { Claims } from '#application/commands/claims.ts';
import type { Lookup } from '#application/commands/command.ts';
import { type CommandDependencies, commandOperation } from '#application/commands/execute-command.ts';
import type { VersionComparer } from '#application/diffs/version-comparer.ts';
import { FileSpace } from '#application/files/file-space.ts';
import { FileUploads } from '#application/files/file-uploads.ts';
import { uploadOperation } from '#application/files/upload-operation.ts';
import type { AnyOperation } from '#application/operations/operation.ts';
import { PendingResources, type ReactingProcess, ReadYourWrites } from '#application/operations/read-your-writes.ts';
import { downloadOperation } from '#application/queries/content-query.ts';
import type { QueryServices } from '#application/queries/query.ts';
import { type QueryDependencies, queryOperation } from '#application/queries/query-handler.ts';
import { EndpointPlaces } from '#application/webhooks/endpoint-places.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import { file } from '#domain/file/file.ts';
import { areShown } from '#positions/positions.ts';
import type { ProcessStatuses } from '#process-engine/process-statuses.ts';
import type { LagMonitor } from '#projection-engine/progress/lag-monitor.ts';
import { arrivalLimits } from './body-limits.ts';
import type { Digests } from './open-digests.ts';
import type { OperationTable } from './operation-tables.ts';

/** What the operations need in addition to the runtime. */
export interface OperationParts {
  /** Processes for whose effects answers wait. */
  readonly reacting: ReadonlyArray<ReactingProcess>;
  readonly processStatuses: ProcessStatuses;
  readonly space: FileSpace;
  /** True if a live node runs batches. */
  readonly batchesRun: () => Promise<boolean>;
  readonly webhookTries: Lookup['webhookTries'];
  readonly digests: Digests;
  readonly comparer: VersionComparer;
  readonly lag: LagMonitor;
  /** The health of this node's gateway; null on a node without a gateway. */
  readonly gatewayHealth: QueryServices['gatewayHealth'];
}

type OperationRuntime = Runtime & OperationParts;

export type BindOperations = (table: OperationTable) => ReadonlyArray<AnyOperation>;

/** @returns creates operations that share their dependencies, whichever table they are of */
export function createBindOperations(runtime: OperationRuntime): BindOperations {
  const pending = new PendingResources(runtime.positions);
  const forCommands = commandDependencies(runtime, pending);
  const uploads = fileUploads(runtime);
  const forQueries = queryDependencies(runtime, pending);
  return ({ commands, uploadCommands, queries, contentQueries }) => [
    ...commands.map((command) => commandOperation(command, forCommands)),
    ...queries.map((query) => queryOperation(query, forQueries)),
    ...uploadCommands.map((command) => uploadOperation(command, { ...forCommands, uploads })),
    ...contentQueries.map((query) => downloadOperation(query, forQueries)),
    runtime.digests.operation,
  ];
}

function commandDependencies(runtime: OperationRuntime, pending: PendingResources): CommandDependencies {
  const { config, admission, writer, personalData, positions, documents, reacting: processes } = runtime;
  const { maxAppendBytes, maxFilledBytes, webhookEndpoints, readYourWritesTimeoutMs: timeoutMs } = config.limits;
  return {
    writer,
    claims: new Claims(writer),
    endpointPlaces: new EndpointPlaces({ admission, documents, positions, limits: webhookEndpoints, timeoutMs }),
    lookup: lookupIn(runtime),
    personalData,
    maxAppendBytes,
    maxFilledBytes,
    readYourWrites: new ReadYourWrites({ positions, processes, pending, timeoutMs }),
  };
}

/** Reads other resources for commands. */
function lookupIn(runtime: OperationRuntime): Lookup {
  const { documents, keyUsage, projections, processStatuses, batchesRun, webhooks, webhookTries } = runtime;
  return {
    exists: async (collection, where) =>
      (await documents.list(collection, where, { limit: 1, maxBytes: 1 })).documents.length > 0,
    descendantKeys: (keyId, limit) => descendantKeysOf(keyId, documents, limit),
    keyLastUsed: async (keyId) => (await keyUsage.lastUsed([keyId])).get(keyId) ?? null,
    projection: async (name) => projections.status().find((status) => status.name === name) ?? null,
    process: async (name) => (await processStatuses.read()).find((status) => status.name === name) ?? null,
    failureAt: async (position) => {
      const followers = [...projections.status(), ...(await processStatuses.read())];
      return followers.find(({ failure }) => failure?.position === position)?.failure ?? null;
    },
    batchesRun,
    webhookUrlFault: (url) => webhooks.guard.faultOf(url),
    webhookTries,
  };
}

function fileUploads({ config: { limits }, blobs, space, writer }: OperationRuntime): FileUploads {
  return new FileUploads({
    blobs,
    space,
    maxFileBytes: limits.maxFileBytes,
    arrival: arrivalLimits(limits),
    blobOf: async (fileId) => (await writer.load(file, fileId)).state?.blobId ?? null,
  });
}

function queryDependencies(
  runtime: OperationRuntime,
  pending: PendingResources,
): QueryDependencies & { readonly blobs: BlobStore } {
  const { events, writer, documents, projections, positions, keyUsage, personalData, blobs, ...parts } = runtime;
  const ms = runtime.config.limits.readYourWritesTimeoutMs;
  const { processStatuses, digests, webhooks, comparer, lag, gatewayHealth, history, calls, responses } = parts;
  const services: QueryServices = {
    history,
    personalReader: (subjects) => personalData.readerOf(subjects),
    streams: writer,
    keyUsage,
    comparer,
    proveInclusion: digests.proveInclusion,
    verification: digests.verification,
    webhooks: webhooks.reads,
    unknownEvents: () => documents.unknownEvents(),
    projectionStatus: async () => projections.status(),
    processStatus: () => processStatuses.read(),
    lag,
    gatewayHealth,
    calls,
    responses,
    waitForPosition: (names, position) => areShown(positions, names, position, { ms }),
    lastPosition: () => readEndOfLog(events),
  };
  return { blobs, documents, pending, admission: runtime.admission, services };
}

/** Checks the quota of projects, and the required free space on the disks of this node. */
export function openFileSpace({ config, documents }: Pick<Runtime, 'config' | 'documents'>): FileSpace {
  const freeSpace = freeSpaceOf(config);
  const { blobStore, dataDir, limits } = config;
  // GridFS uses the disk of the database, which its own operator monitors.
  const hasRoomFor = (bytes: number) =>
    blobStore.kind === 'folder' ? freeSpace.hasRoomFor(blobStore.path, bytes) : freeSpace.hasRoomFor(dataDir, 0);
  return new FileSpace({ documents, quotaBytes: limits.filesQuotaBytes, hasRoomFor });
}
