import { type UnderLeaseOptions, underLease } from '#leases/under-lease.ts';
import type { CheckpointStore } from './checkpoints/checkpoint-store.ts';
import { ProcessRunner, type ProcessRunnerOptions } from './process-runner.ts';

export interface LeasedProcessOptions
  extends Omit<ProcessRunnerOptions, 'checkpoints' | 'log'>,
    Pick<UnderLeaseOptions, 'leases' | 'holder' | 'limits' | 'signal' | 'log'> {
  /** Opens checkpoints that are written under a fencing token; they are closed when the term has ended. */
  readonly openCheckpoints: (token: number) => CheckpointStore;
}

/**
 * Runs a process whenever this node holds the lease for it, until the signal aborts. Its checkpoint is fenced; what it
 * appends is not: that comes to nothing the second time because the process decides so.
 * @throws what `ProcessRunner.run` throws
 */
export function runProcessUnderLease(options: LeasedProcessOptions): Promise<void> {
  const { process, leases, holder, limits, log, signal, openCheckpoints } = options;
  const work = async (token: number, ending: AbortSignal) => {
    const checkpoints = openCheckpoints(token);
    try {
      await new ProcessRunner({ ...options, checkpoints }).run(ending);
    } finally {
      await checkpoints.close();
    }
  };
  return underLease({ name: `process:${process.name}`, leases, holder, log, signal, work, ...(limits && { limits }) });
}
