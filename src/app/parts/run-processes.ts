import type { ProcessProgress } from '#application/commands/process-progress.ts';
import type { Leases } from '#leases/leases.ts';
import type { CheckpointStore } from '#process-engine/checkpoints/checkpoint-store.ts';
import { runProcessUnderLease } from '#process-engine/leased-process.ts';
import { PolledProcessProgress } from '#process-engine/polled-process-progress.ts';
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
  readonly leases: Leases;
  /** The name of this node in its leases. */
  readonly node: string;
  /** Opens checkpoints that are written with a fencing token. */
  readonly openCheckpoints: (token: number) => CheckpointStore;
}

/** Runs processes on a single node. @returns their progress */
export function runProcesses(
  processes: ReadonlyArray<Process>,
  { opened, ...surroundings }: ProcessDependencies,
): ReadonlyArray<ProcessProgress> {
  return processes.map((process) => {
    const runner = new ProcessRunner({ ...surroundings, process });
    runner.start();
    opened.defer(() => runner.stop());
    return runner;
  });
}

/** Watches the progress of processes that any node may run. */
export function watchProcesses(
  processes: ReadonlyArray<Process>,
  { tail, checkpoints, log, opened }: Pick<ProcessDependencies, 'tail' | 'checkpoints' | 'log' | 'opened'>,
): ReadonlyArray<ProcessProgress> {
  return processes.map((process) => {
    const progress = new PolledProcessProgress({ process, tail, checkpoints, log });
    opened.defer(() => progress.close());
    return progress;
  });
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
