import { decodeProcessesRecord, type ProcessesRecord, processesRecordKey } from '#positions/position-poll.ts';
import type { RecordStore } from '#records/record-store.ts';
import { BackOff } from '#shared/async/retrying.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { encodeJson } from '#shared/json/json.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { OutageLog } from '#shared/logging/outage-log.ts';

/**
 * Stores how far the processes are, in one record. It is not in the read store, because a rebuild of read models must
 * not run a process again. If a crash loses the last writes, processes see some events again.
 */
export class ProcessCheckpoints {
  readonly #records: RecordStore;

  constructor(records: RecordStore) {
    this.#records = records;
  }

  /**
   * Takes the processes over: from now on the store refuses a node with an older token. The first `save` replaces a
   * record of another log.
   * @param log the identity of the log
   * @returns the stored record; null without one of this log
   * @throws UnavailableError; FencedError if another node runs the processes under a newer lease
   */
  async take(token: number, log: string): Promise<ProcessesRecord | null> {
    await this.#records.take(processesRecordKey.kind, token);
    const record = await this.read();
    return record?.log === log ? record : null;
  }

  /**
   * Stores the record in place of the earlier one.
   * @param token the token with which `take` was called
   * @throws UnavailableError; FencedError
   */
  save(token: number, record: ProcessesRecord): Promise<void> {
    const { kind, key } = processesRecordKey;
    return this.#records.put(kind, new Map([[key, encodeJson({ ...record, token })]]), { fence: token });
  }

  /** Reads the record, for statuses and for nodes that do not run the processes. @throws UnavailableError */
  async read(): Promise<ProcessesRecord | null> {
    const { kind, key } = processesRecordKey;
    return decodeProcessesRecord(await this.#records.get(kind, key));
  }
}

export interface CheckpointWriterOptions {
  readonly write: () => Promise<void>;
  /** Called once when a newer term has begun. Nothing is written afterwards. */
  readonly onFenced: (error: FencedError) => void;
  readonly log: Logger;
  /** Ends every wait. `end` still writes the last state. */
  readonly signal: AbortSignal;
}

interface Wait {
  readonly version: number;
  readonly end: () => void;
}

const retryLimits = { firstMs: 50, maxMs: 1_000 };

/** Writes a state that changes often: one write at a time, always of the newest state. A failed write is retried. */
export class CheckpointWriter {
  readonly #options: CheckpointWriterOptions;
  readonly #outage: OutageLog;
  /** The number of the newest change. */
  #wanted = 0;
  #written = 0;
  #writing: Promise<void> | null = null;
  #isFenced = false;
  #waits: Wait[] = [];

  constructor(options: CheckpointWriterOptions) {
    this.#options = options;
    this.#outage = new OutageLog(options.log, 'The store of the checkpoints of processes');
    options.signal.addEventListener('abort', () => this.#endWaits(Number.POSITIVE_INFINITY), { once: true });
  }

  request(): void {
    this.#wanted += 1;
    if (!this.#isFenced && !this.#options.signal.aborted) this.#writing ??= this.#write();
  }

  /** Waits until the present state is written, or the signal aborts. After that, `end` writes it. */
  saved(): Promise<void> {
    this.request();
    // A write under way at the abort ends no wait that begins later.
    if (this.#writing === null || this.#options.signal.aborted) return Promise.resolve();
    return new Promise((end) => this.#waits.push({ version: this.#wanted, end }));
  }

  /**
   * Writes the last state once, if it is not written yet. Must be called after the signal has aborted.
   * @throws what the write throws
   */
  async end(): Promise<void> {
    await this.#writing;
    if (!this.#isFenced && this.#written < this.#wanted) await this.#options.write();
  }

  async #write(): Promise<void> {
    const { write, signal } = this.#options;
    const backOff = new BackOff(retryLimits);
    // Everything that changes in the same turn becomes one write.
    await Promise.resolve();
    while (this.#written < this.#wanted && !signal.aborted) {
      const version = this.#wanted;
      try {
        await write();
        this.#written = version;
        this.#outage.succeeded();
        this.#endWaits(version);
      } catch (error) {
        if (error instanceof FencedError) return this.#fenced(error);
        this.#outage.failed(error);
        await delay(backOff.failed(), signal);
      }
    }
    this.#writing = null;
  }

  #fenced(error: FencedError): void {
    this.#isFenced = true;
    this.#writing = null;
    this.#endWaits(Number.POSITIVE_INFINITY);
    this.#options.onFenced(error);
  }

  #endWaits(version: number): void {
    const ended = this.#waits.filter((wait) => wait.version <= version);
    this.#waits = this.#waits.filter((wait) => wait.version > version);
    for (const { end } of ended) end();
  }
}
