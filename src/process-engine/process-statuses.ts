import type { ProcessStatus } from '#application/queries/process-status.ts';
import type { EventStore } from '#event-store/event-store.ts';
import { identityByFirst } from '#event-store/log-identity.ts';
import type { LogTail } from '#event-store/log-tail.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { type CheckpointStore, startOfLog, watchedCheckpoint } from './checkpoints/checkpoint-store.ts';

export interface ProcessStatusesOptions {
  readonly processes: ReadonlyArray<{ readonly name: string }>;
  readonly tail: Pick<LogTail, 'firstEvent'>;
  readonly store: Pick<EventStore, 'lastPosition'>;
  readonly checkpoints: Pick<CheckpointStore, 'peek'>;
}

/** The time limit for reading the identity of the log. */
const logReadTimeoutMs = 1_000;

/** Reads the statuses of processes from their checkpoints. */
export class ProcessStatuses {
  readonly #options: ProcessStatusesOptions;
  /** The log's identity, once it is known. */
  #log: string | null = null;

  constructor(options: ProcessStatusesOptions) {
    this.#options = options;
  }

  /** @returns the statuses in the order of the given processes @throws UnavailableError */
  async read(): Promise<ReadonlyArray<ProcessStatus>> {
    const { processes, checkpoints } = this.#options;
    this.#log ??= await this.#identity();
    const log = this.#log;
    return Promise.all(
      processes.map(async ({ name }) => {
        const checkpoint = log === null ? watchedCheckpoint(startOfLog, null) : await checkpoints.peek(name, log);
        const { position, failure } = checkpoint;
        return { name, state: failure === null ? 'running' : 'stopped', position, failure };
      }),
    );
  }

  /** @returns null while the log is empty */
  async #identity(): Promise<string | null> {
    // This fails at once while the store is known to be away. A subscription would wait.
    await this.#options.store.lastPosition();
    const signal = AbortSignal.timeout(logReadTimeoutMs);
    const first = await this.#options.tail.firstEvent(signal, false);
    if (first === null && signal.aborted) throw new UnavailableError('The event store does not answer.');
    return first === null ? null : identityByFirst(first);
  }
}
