import { type UnderLeaseOptions, underLease } from '#leases/under-lease.ts';
import type { CheckpointStore } from './checkpoints/checkpoint-store.ts';
import { ProcessRunner, type ProcessRunnerOptions } from './process-runner.ts';

export interface LeasedProcessOptions
  extends Omit<ProcessRunnerOptions, 'checkpoints' | 'log'>,
    Pick<UnderLeaseOptions, 'leases' | 'holder' | 'limits' | 'signal' | 'log'> {
  /** Opens checkpoints that are written with a fencing token. They are closed at the end of the lease's term. */
  readonly openCheckpoints: (token: number) => CheckpointStore;
}

/**
 * Runs a process whenever this node holds its lease, until the signal aborts. Checkpoints are fenced. Appends are not:
 * a process that decides a second time finds the work done, and appends nothing.
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
