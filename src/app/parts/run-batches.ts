import type { Config } from '#app/config.ts';
import type { FileSpace } from '#application/files/file-space.ts';
import type { StreamWriter } from '#application/streams/stream-writer.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import type { LogTail } from '#event-store/log-tail.ts';
import type { ByteBudget } from '#exchange/byte-budget.ts';
import { createLineCaller } from '#gateway/batch/line-caller.ts';
import type { Gateway } from '#gateway/gateway.ts';
import type { GatewayLimits } from '#gateway/gateway-call.ts';
import { LeaseWatch } from '#leases/lease-watch.ts';
import type { Leases } from '#leases/leases.ts';
import { onOneNode } from '#leases/on-one-node.ts';
import { BatchRunner } from '#processes/batches/batch-runner.ts';
import { CallSlots } from '#processes/batches/call-slots.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import type { Logger } from '#shared/logging/logger.ts';

/** The dependencies of batches. */
export interface BatchDependencies {
  readonly writer: StreamWriter;
  readonly tail: LogTail;
  readonly documents: ReadStore;
  readonly blobs: BlobStore;
  readonly space: FileSpace;
  /** Null if this process is the only one. */
  readonly leases: Leases | null;
  /** This node's name. */
  readonly node: string;
  /** Calls models for the lines; null on a node that runs no batches. */
  readonly gateway: Gateway | null;
  readonly gatewayLimits: GatewayLimits;
  readonly bodies: ByteBudget;
  readonly answers: ByteBudget;
  readonly log: Logger;
  /** Collects everything that must be stopped. */
  readonly opened: AsyncDisposableStack;
}

const lease = 'batches';
/** The most inputs that are checked at once. Each check has the hashes of up to 50,000 ids in memory. */
const maxChecksAtOnce = 4;
/** The bytes of a line next to its body, for its id and its address. */
const bytesAroundBody = 64 * 1024;

/** Runs batches if this node may. @returns a function that says whether a live node runs batches */
export function runBatches(
  { limits }: Pick<Config, 'limits'>,
  dependencies: BatchDependencies,
): () => Promise<boolean> {
  const { leases, node, gateway, gatewayLimits, bodies, answers, log, opened } = dependencies;
  let isHolder = () => false;
  if (gateway !== null) {
    const runner = new BatchRunner({
      ...dependencies,
      calls: createLineCaller({ gateway, limits: gatewayLimits, bodies, answers }),
      slots: new CallSlots(limits.batchCallsAtOnce),
      checks: new CallSlots(maxChecksAtOnce),
      maxLineBytes: gatewayLimits.maxJsonBytes + bytesAroundBody,
      now: () => new Date(),
    });
    const stopping = new AbortController();
    const running = onOneNode({
      ...{ name: lease, leases, node, log, signal: stopping.signal },
      failureMessage: 'The running of batches has failed and is started again',
      work: (leaseToken, signal, isHeld) => {
        isHolder = () => isHeld() && !signal.aborted;
        return runner.run({ leaseToken, signal, isHeld });
      },
    });
    opened.defer(async () => {
      stopping.abort();
      await running;
    });
  }
  if (leases === null) return async () => gateway !== null;
  const watch = new LeaseWatch({ name: lease, leases, isHolder: () => isHolder(), log });
  opened.defer(() => watch.close());
  return () => watch.isHeld();
}
