import type { Runtime } from '#app/runtime.ts';
import type { LineCalls } from '#application/batches/line-calls.ts';
import type { FileSpace } from '#application/files/file-space.ts';
import { maxLineBytesOf } from '#exchange/slot-table.ts';
import { LeaseWatch } from '#leases/lease-watch.ts';
import { BatchRunner, type BatchRunnerOptions } from '#processes/batches/batch-runner.ts';
import { CallSlots } from '#processes/batches/call-slots.ts';
import { LeftLines } from '#processes/batches/left-lines.ts';
import { clock } from '#shared/clock.ts';
import { runOnOneNode } from './run-on-one-node.ts';

const lease = 'batches';
/** Maximum inputs that are checked at the same time. Each check has the hashes of up to 50,000 ids in memory. */
const maxChecksAtOnce = 4;

/**
 * Runs batches if this node may.
 * @param calls makes the calls of the lines; null on a node that runs no batches
 * @returns a function that answers whether a live node runs batches
 */
export function runBatches(runtime: Runtime, calls: LineCalls | null, space: FileSpace): () => Promise<boolean> {
  const { admission, config, leases, log, opened } = runtime;
  const maxLineBytes = maxLineBytesOf(config.limits.maxJsonBytes);
  let isHolder = () => false;
  if (calls !== null) {
    const stores = { ...runtime, space, now: () => new Date(clock.time()) };
    const left = new LeftLines(stores);
    opened.defer(() => left.close());
    const options: BatchRunnerOptions = {
      ...stores,
      calls,
      slots: new CallSlots(config.limits.batchCallsAtOnce),
      checks: new CallSlots(maxChecksAtOnce),
      left,
      maxLineBytes,
      lines: admission.budgets['batch line'],
    };
    runOnOneNode(runtime, {
      name: lease,
      failureMessage: 'The running of batches has failed and is started again',
      work: (term, stopping) => {
        isHolder = () => term.isHeld() && !term.signal.aborted;
        return new BatchRunner(options, { ...term, stopping }).run();
      },
    });
  }
  if (leases === null) return async () => calls !== null;
  const watch = new LeaseWatch({ name: lease, leases, isHolder: () => isHolder(), log });
  opened.defer(() => watch.close());
  return () => watch.isHeld();
}
