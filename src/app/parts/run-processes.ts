import type { LeaseStore } from '#leases/lease-store.ts';
import type { CheckpointStore } from '#process-engine/checkpoints/checkpoint-store.ts';
import { runProcessUnderLease } from '#process-engine/leased-process.ts';
import type { Process } from '#process-engine/process.ts';
import { ProcessRunner, type ProcessRunnerOptions } from '#process-engine/process-runner.ts';
import { restarting } from '#shared/async/restarting.ts';
import type { Logger } from '#shared/logging/logger.ts';

/** The dependencies of processes. */
export interface ProcessDependencies extends Omit<ProcessRunnerOptions, 'process' | 'checkpoints' | 'log'> {
  /** The store from which checkpoints are read. A single process writes them there too. */
  readonly checkpoints: CheckpointStore;
  readonly log: Logger;
  /** Collects everything that must be stopped. */
  readonly opened: AsyncDisposableStack;
}

/** Further dependencies of nodes that share their stores. */
export interface SharedProcessDependencies extends ProcessDependencies {
  readonly leases: LeaseStore;
  /** The name of this node in its leases. */
  readonly node: string;
  /** Opens checkpoints that are written with a fencing token. */
  readonly openCheckpoints: (token: number) => CheckpointStore;
}

/** Runs processes on a single node. */
export function runProcesses(
  processes: ReadonlyArray<Process>,
  { opened, ...surroundings }: ProcessDependencies,
): void {
  for (const process of processes) {
    const runner = new ProcessRunner({ ...surroundings, process });
    runner.start();
    opened.defer(() => runner.stop());
  }
}

/** Runs each process whenever this node holds the lease for it. */
export function runProcessesUnderLeases(processes: ReadonlyArray<Process>, shared: SharedProcessDependencies): void {
  const stopping = new AbortController();
  const running = processes.map((process) => keepRunning(process, shared, stopping.signal));
  shared.opened.defer(async () => {
    stopping.abort();
    await Promise.all(running);
  });
}

function keepRunning(process: Process, shared: SharedProcessDependencies, signal: AbortSignal): Promise<void> {
  const { node: holder, log } = shared;
  const message = 'A process has failed under its lease and is started again';
  const run = () => runProcessUnderLease({ ...shared, process, holder, signal });
  return restarting(run, { log, signal, message, fields: { process: process.name } });
}
