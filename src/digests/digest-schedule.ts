import type { Digest } from '#domain/history/digest.ts';
import { LeaseMutex } from '#leases/lease-mutex.ts';
import type { Leases } from '#leases/leases.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { DigestRefusedError } from './digest.ts';
import type { DigestWriter } from './digest-writer.ts';

const hourMs = 60 * 60 * 1000;
/** The delay after a start, which has other work to do. The first digest of a long log reads all of it. */
const startDelayMs = 60_000;
/** The pause after a failure. */
const retryMs = 60_000;
/** The limit of the wait for another node that writes a digest. */
const leaseTimeoutMs = 20_000;

export interface DigestScheduleOptions {
  readonly writer: DigestWriter;
  /** Null if this process is the only one. */
  readonly leases: Leases | null;
  readonly node: string;
  readonly log: Logger;
}

/** Writes a digest every hour in which a chained stream changed, and on request; only one node writes at a time. */
export class DigestSchedule {
  readonly #options: DigestScheduleOptions;
  readonly #stopping = new AbortController();
  readonly #turns: LeaseMutex;
  #running: Promise<void> = Promise.resolve();

  constructor(options: DigestScheduleOptions) {
    this.#options = options;
    this.#turns = new LeaseMutex({ ...options, name: 'digests', timeoutMs: leaseTimeoutMs });
  }

  /** Starts with a check in a minute. */
  start(): void {
    this.#running = this.#run(this.#stopping.signal);
  }

  /** Stops a running write, which then has no effect. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.allSettled([this.#running, this.#turns.stop()]);
  }

  /**
   * @param afterRestore whether to begin a new chain
   * @returns the newest digest; null for an empty log
   * @throws DigestRefusedError; UnavailableError; what the file system throws
   */
  write(afterRestore: boolean): Promise<Digest | null> {
    const { writer } = this.#options;
    return this.#turns.run((term) => {
      const own = writer.inTerm(term);
      return afterRestore ? own.beginChain(term.signal) : own.write(term.signal);
    });
  }

  /**
   * Writes a digest if the newest one is an hour old; otherwise copies missing digests to the external folder.
   * @returns the milliseconds until the next check
   */
  async writeIfDue(): Promise<number> {
    const { writer } = this.#options;
    const left = await this.#leftMs();
    if (left > 0) {
      await writer.copy(this.#stopping.signal);
      return left;
    }
    await this.#turns.run(async (term) => {
      // Another node may have written it while this one waited for the lease.
      if ((await this.#leftMs()) <= 0) await writer.inTerm(term).write(term.signal);
    });
    return hourMs;
  }

  async #leftMs(): Promise<number> {
    const newest = await this.#options.writer.newest();
    return newest === null ? 0 : Math.min(hourMs, Date.parse(newest.time) + hourMs - clock.time());
  }

  async #run(signal: AbortSignal): Promise<void> {
    await delay(startDelayMs, signal);
    while (!signal.aborted) {
      const pauseMs = await this.writeIfDue().catch((error: unknown) => this.#report(error));
      await delay(pauseMs, signal);
    }
  }

  #report(error: unknown): number {
    const { log } = this.#options;
    if (this.#stopping.signal.aborted) return 0;
    if (error instanceof UnavailableError) log.warn({ error: error.message }, 'A digest could not be written yet');
    else if (error instanceof DigestRefusedError) log.error({ reason: error.message }, 'No digest is written');
    else log.error({ err: error }, 'A digest could not be written');
    return retryMs;
  }
}
