import type { ProcessStatus } from '#application/queries/process-status.ts';
import type { EventStore } from '#event-store/event-store.ts';
import { identityOfLog } from '#event-store/log-identity.ts';
import type { LogTail } from '#event-store/log-tail.ts';
import { type ProcessCheckpoint, startOfLog } from '#positions/position-poll.ts';
import { abortAfter } from '#shared/async/timed-waits.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { ProcessCheckpoints } from './process-checkpoints.ts';

export interface ProcessStatusesOptions {
  readonly processes: ReadonlyArray<{ readonly name: string }>;
  readonly tail: Pick<LogTail, 'firstEvent'>;
  readonly store: Pick<EventStore, 'lastPosition'>;
  readonly checkpoints: Pick<ProcessCheckpoints, 'read'>;
}

/** Time limit of reading the identity of the log. */
const logReadTimeoutMs = 1_000;

/** The statuses of processes, whichever node runs them. */
export class ProcessStatuses {
  readonly #options: ProcessStatusesOptions;
  #log: string | null = null;

  constructor(options: ProcessStatusesOptions) {
    this.#options = options;
  }

  /** Reads the statuses in the order of the given processes. @throws UnavailableError */
  async read(): Promise<ReadonlyArray<ProcessStatus>> {
    const { processes, checkpoints } = this.#options;
    this.#log ??= await this.#identity();
    const record = this.#log === null ? null : await checkpoints.read();
    const known = record?.log === this.#log ? record?.checkpoints : undefined;
    return processes.map(({ name }) => statusOf(name, known?.[name] ?? startOfLog));
  }

  /** @returns null while the log is empty */
  async #identity(): Promise<string | null> {
    // Fails immediately while the store is known to be unavailable. The read of the first event would be repeated.
    await this.#options.store.lastPosition();
    const signal = abortAfter(logReadTimeoutMs);
    const identity = await identityOfLog(this.#options.tail, signal, false);
    if (identity === null && signal.aborted) throw new UnavailableError('The event store does not answer.');
    return identity;
  }
}

function statusOf(name: string, { position, failure, waitingFor }: ProcessCheckpoint): ProcessStatus {
  if (failure !== null) return { name, state: 'stopped', position, failure, waitingFor };
  return { name, state: waitingFor === null ? 'running' : 'waiting', position, failure, waitingFor };
}
