import type { Runtime } from '#app/runtime.ts';
import type { LineCalls } from '#application/batches/line-calls.ts';
import type { FileSpace } from '#application/files/file-space.ts';
import { ByteBudget, type ByteLimits } from '#exchange/byte-budget.ts';
import { LeaseWatch } from '#leases/lease-watch.ts';
import { BatchRunner, type BatchRunnerOptions } from '#processes/batches/batch-runner.ts';
import { CallSlots } from '#processes/batches/call-slots.ts';
import { LeftLines } from '#processes/batches/left-lines.ts';
import { clock } from '#shared/clock.ts';
import { runOnOneNode } from './run-on-one-node.ts';

const lease = 'batches';
/** Maximum inputs that are checked at the same time. Each check has the hashes of up to 50,000 ids in memory. */
const maxChecksAtOnce = 4;
/** The bytes of a line next to its body, for its id and its address. */
const bytesAroundBody = 64 * 1024;

/**
 * Runs batches if this node may.
 * @param calls makes the calls of the lines; null on a node that runs no batches
 * @returns a function that answers whether a live node runs batches
 */
export function runBatches(runtime: Runtime, calls: LineCalls | null, space: FileSpace): () => Promise<boolean> {
  const { config, leases, log, opened } = runtime;
  const maxLineBytes = config.limits.maxJsonBytes + bytesAroundBody;
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
      lines: new ByteBudget(linesLimits(config.limits.bodies, maxLineBytes)),
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

/**
 * Lines have half of the room of bodies, in a budget of their own. In that of bodies, lines that wait could take the room
 * that their own calls need. Two lines of maximum length always fit.
 */
function linesLimits(bodies: ByteLimits, maxLineBytes: number): ByteLimits {
  return {
    maxBytesPerProject: Math.max(2 * maxLineBytes, bodies.maxBytesPerProject / 2),
    maxBytes: Math.max(2 * maxLineBytes, bodies.maxBytes / 2),
  };
}
