import type { ProcessProgress } from '#application/commands/process-progress.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { identityOfLog } from '#event-store/log-identity.ts';
import type { LogTail } from '#event-store/log-tail.ts';
import { delay } from '#shared/async/delay.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { OutageLog } from '#shared/logging/outage-log.ts';
import {
  type CheckpointStore,
  startOfLog,
  type WatchedCheckpoint,
  watchedCheckpoint,
} from './checkpoints/checkpoint-store.ts';
import { handlesOneOf, type Process } from './process.ts';
import { ProcessedPositions } from './processed-positions.ts';

const pollIntervalMs = 10;
/** The pause after a failed read. A store that is away is not asked more often. */
const outageRetryMs = 250;

export interface PolledProcessProgressOptions {
  readonly process: Process;
  readonly tail: Pick<LogTail, 'firstEvent'>;
  readonly checkpoints: Pick<CheckpointStore, 'peek'>;
  readonly log: Logger;
}

/** The progress of a process that may run on another node. It polls the checkpoint while a caller waits. */
export class PolledProcessProgress implements ProcessProgress {
  readonly #options: PolledProcessProgressOptions;
  readonly #positions = new ProcessedPositions();
  readonly #closing = new AbortController();
  readonly #outage: OutageLog;
  /** The identity of the log; null until it is known. */
  #identity: string | null = null;
  #polling: Promise<void> | null = null;

  constructor(options: PolledProcessProgressOptions) {
    this.#options = options;
    const { log, process } = options;
    this.#outage = new OutageLog(log, 'The checkpoint of a process', { process: process.name });
  }

  handles(events: ReadonlyArray<RecordedEvent>): boolean {
    return handlesOneOf(this.#options.process, events);
  }

  waitUntilProcessed(position: number, milliseconds: number): Promise<number | null> {
    const passed = this.#positions.passed(position, milliseconds);
    if (this.#positions.waiting) this.#polling ??= this.#poll();
    return passed;
  }

  /** Ends every wait. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#positions.close();
    await this.#polling;
  }

  async #poll(): Promise<void> {
    const { signal } = this.#closing;
    while (this.#positions.waiting && !signal.aborted) {
      try {
        this.#positions.update(await this.#peek());
        this.#outage.succeeded();
      } catch (error) {
        this.#outage.failed(error);
        await delay(outageRetryMs, signal);
      }
      if (this.#positions.waiting) await delay(pollIntervalMs, signal);
    }
    // Otherwise this node would never see that a stopped process runs again.
    this.#positions.forgetStop();
    this.#polling = null;
  }

  async #peek(): Promise<WatchedCheckpoint> {
    const { tail, checkpoints, process } = this.#options;
    this.#identity ??= await identityOfLog(tail, this.#closing.signal);
    return this.#identity === null
      ? watchedCheckpoint(startOfLog, null)
      : checkpoints.peek(process.name, this.#identity);
  }
}
