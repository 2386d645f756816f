import { BackOff } from '#shared/async/retrying.ts';
import type { UnavailableCause } from '#shared/availability/availability.ts';
import { clock } from '#shared/clock.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { ThrottledLog } from '#shared/logging/throttled-log.ts';
import { callFailure, isRefusal, unavailableError } from './connection/call-failure.ts';
import type { LeaderConnection } from './connection/connection.ts';
import { appendRequests } from './wire/requests.ts';
import type { StreamNames } from './wire/stream-names.ts';

/** Time limit of a trial. `/readyz` waits a little longer. */
const trialMs = 1_000;
const retryLimits = { firstMs: 1_000, maxMs: 30_000 };
const lineEveryMs = 60_000;

/** No stream has this revision, so the server stores nothing. It checks the rights first. */
const impossibleRevision = 2 ** 52;
const triedStream = 'trial';
const triedEvent = { id: '6e0cd5f8-52c6-4a09-8f47-1d1f2a6f3a55', type: 'Trial', data: '{}', metadata: '{}' };

export interface WriteAccessOptions {
  readonly connection: Pick<LeaderConnection, 'append'>;
  readonly names: StreamNames;
  readonly explain: (refusal: unknown) => Promise<UnavailableCause>;
  readonly log: Logger;
}

/** Finds out by trial whether the user may append to our streams, because no read shows it. */
export class WriteAccess {
  readonly #options: WriteAccessOptions;
  readonly #lines: ThrottledLog;
  readonly #backOff = new BackOff(retryLimits);
  #isProved = false;
  /** Why the last trial was refused; null if it was not. */
  #cause: UnavailableCause | null = null;
  #nextTrialAt = Number.NEGATIVE_INFINITY;
  #trial: Promise<void> | null = null;

  constructor(options: WriteAccessOptions) {
    this.#options = options;
    this.#lines = new ThrottledLog((fields, message) => options.log.warn(fields, message), lineEveryMs);
  }

  /** Notes that the server has accepted the right to append. */
  proved(): void {
    if (this.#isProved) return;
    this.#isProved = true;
    this.#backOff.succeeded();
    if (this.#cause !== null) this.#options.log.info({}, 'EventStoreDB takes appends again');
    this.#cause = null;
  }

  /**
   * Notes a refusal. That stream may have an access list of its own, so a trial shows whether all of them are refused.
   * @returns why
   */
  async refused(stream: string, refusal: unknown): Promise<UnavailableCause> {
    const cause = await this.#options.explain(refusal);
    this.#isProved = false;
    this.#lines.write('refused', { stream, cause: cause.detail }, 'EventStoreDB refuses an append');
    return cause;
  }

  /** Throws if, as far as is known, the user may not append. @throws UnavailableError */
  async ensure(): Promise<void> {
    if (this.#isProved) return;
    if (clock.now() >= this.#nextTrialAt) {
      this.#trial ??= this.#try().finally(() => {
        this.#trial = null;
      });
      await this.#trial;
    }
    if (this.#cause !== null) throw unavailableError('cannot take writes', this.#cause);
  }

  /** Writes the lines that were held back. */
  close(): void {
    this.#lines.close();
  }

  async #try(): Promise<void> {
    const { connection, names } = this.#options;
    const stream = names.onServer(triedStream);
    try {
      await connection.append(appendRequests(stream, impossibleRevision, [triedEvent]), trialMs);
      this.proved();
    } catch (error) {
      if (!isRefusal(callFailure(error))) throw unavailableError('cannot take writes', error);
      this.#cause = await this.refused(stream, error);
      this.#nextTrialAt = clock.now() + this.#backOff.failed();
    }
  }
}
