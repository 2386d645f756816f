import type { Runtime } from '#app/runtime.ts';
import type { LineCalls } from '#application/batches/line-calls.ts';
import type { FileSpace } from '#application/files/file-space.ts';
import { maxLineBytesOf } from '#exchange/slot-table.ts';
import { LeaseWatch } from '#leases/lease-watch.ts';
import { BatchRunner, type BatchRunnerOptions } from '#processes/batches/batch-runner.ts';
import { LeftLines } from '#processes/batches/left-lines.ts';
import { clock } from '#shared/clock.ts';
import { runOnOneNode } from './run-on-one-node.ts';

const lease = 'batches';

/**
 * Runs batches only if this node may.
 * @param calls null on a node that runs no batches
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
      slots: admission.batches['batch call'],
      checks: admission.batches['batch check'],
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
