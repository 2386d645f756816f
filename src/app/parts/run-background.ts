import { watchMetrics } from '#app/progress.ts';
import type { Runtime } from '#app/runtime.ts';
import { waitForReadModels } from '#app/startup/wait-for-stores.ts';
import type { KeyResolver } from '#application/access/key-resolver.ts';
import type { LineCalls } from '#application/batches/line-calls.ts';
import type { Lookup } from '#application/commands/command.ts';
import type { FileSpace } from '#application/files/file-space.ts';
import type { Process } from '#process-engine/process.ts';
import type { ProcessStatuses } from '#process-engine/process-statuses.ts';
import { readyOnly } from '#projection-engine/progress/ready-read-store.ts';
import { type DigestSurroundings, type Digests, openDigests } from './open-digests.ts';
import { openKeyResolver } from './open-key-resolver.ts';
import { runBatches } from './run-batches.ts';
import { runProcesses } from './run-processes.ts';
import { type RequestSender, runWebhooks } from './run-webhooks.ts';

export interface Followers {
  /** Its documents are those of filled read models. */
  readonly runtime: Runtime;
  readonly processStatuses: ProcessStatuses;
  readonly keys: KeyResolver;
}

/** Returns when the read models have reached the end of the log. */
export async function startFollowers(started: Runtime, processes: ReadonlyArray<Process>): Promise<Followers> {
  const processStatuses = runProcesses(processes, started);
  await waitForReadModels(started, started.config.limits.readYourWritesTimeoutMs);
  watchMetrics(started, processStatuses);
  const runtime = { ...started, documents: readyOnly(started.documents, started.projections) };
  return { runtime, processStatuses, keys: openKeyResolver(runtime) };
}

/** What the work needs outside the node's stores. */
export interface WorkSurroundings extends DigestSurroundings {
  /** Null on a node that runs no batches. */
  readonly lineCalls: LineCalls | null;
  readonly space: FileSpace;
  readonly createSender: (runtime: Runtime) => RequestSender;
}

/** Work that one node does at a time. */
export interface SharedWork {
  /** True if a live node runs batches. */
  readonly batchesRun: () => Promise<boolean>;
  readonly webhookTries: Lookup['webhookTries'];
  readonly digests: Digests;
}

/** Starts the shared work, each kind on one node at a time. @throws StartupError */
export async function startSharedWork(runtime: Runtime, surroundings: WorkSurroundings): Promise<SharedWork> {
  const batchesRun = runBatches(runtime, surroundings.lineCalls, surroundings.space);
  const digests = await openDigests(runtime, surroundings);
  return { batchesRun, digests, webhookTries: runWebhooks(runtime, surroundings.createSender) };
}
