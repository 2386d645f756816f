import * as E from 'fp-ts/lib/Either.js';
import type { DigestPlace } from '#domain/history/digest.ts';
import { LogVerification } from '#domain/history/verification.ts';
import type { RecordStore } from '#records/record-store.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { VerificationResult } from './verify-history.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const weekMs = 7 * dayMs;
/** The first Sunday after 1970 began, which was on a Thursday. */
const firstSundayMs = 3 * dayMs;

/** The delay after a start, which has other work to do. */
const startDelayMs = minuteMs;
/** The pause after a failure, and while there is no digest. */
const retryMs = 10 * minuteMs;

const kind = 'verification';
const key = 'last';
/** The record of the time since when a log that was never verified can be. */
const awaitedKey = 'awaited';

export interface DailyVerificationOptions {
  readonly records: Pick<RecordStore, 'get' | 'put'>;
  /** @throws UnavailableError */
  readonly hasDigest: () => Promise<boolean>;
  /** Verifies the whole log if `since` is null. */
  readonly verify: (since: DigestPlace | null, signal: AbortSignal) => Promise<VerificationResult>;
  /** The time of the verification in minutes after midnight UTC. */
  readonly atMinutes: number;
  readonly log: Logger;
}

/**
 * Verifies once a day what is new since the last time, on Sundays the whole log, and the whole log again after a
 * finding. One node at a time may run it.
 */
export class DailyVerification {
  readonly #options: DailyVerificationOptions;
  /** The time of the verification after midnight UTC. */
  readonly #offsetMs: number;

  constructor(options: DailyVerificationOptions) {
    this.#options = options;
    this.#offsetMs = options.atMinutes * minuteMs;
  }

  async run(signal: AbortSignal): Promise<void> {
    await delay(startDelayMs, signal);
    while (!signal.aborted) {
      const pauseMs = await this.verifyIfDue(signal).catch((error: unknown) => this.#report(error, signal));
      await delay(pauseMs, signal);
    }
  }

  /**
   * @returns the milliseconds until it may be due again, an hour at most
   * @throws UnavailableError; LogError; what the thread throws
   */
  async verifyIfDue(signal: AbortSignal): Promise<number> {
    const last = await readVerification(this.#options.records);
    const now = clock.time();
    const today = latestSlot(now, this.#offsetMs, dayMs);
    if (last !== null && Date.parse(last.time) >= today) return Math.min(hourMs, today + dayMs - now);
    if (!(await this.#options.hasDigest())) return retryMs;
    if (last === null) await this.#recordAwaited(now);
    const result = await this.#options.verify(this.#sinceOf(last, now), signal);
    await this.#record(result, last);
    return hourMs;
  }

  /** @returns the digest from which on to verify; null for the whole log */
  #sinceOf(last: LogVerification | null, now: number): DigestPlace | null {
    if (last === null || last.findingCount > 0 || last.wholeTime === null) return null;
    const sunday = latestSlot(now, firstSundayMs + this.#offsetMs, weekMs);
    return Date.parse(last.wholeTime) < sunday ? null : last.digest;
  }

  /** Stores the time of the first attempt, so that restarts do not hide a log that is never verified. */
  async #recordAwaited(now: number): Promise<void> {
    const since = new Map([[awaitedKey, new Date(now).toISOString()]]);
    await this.#options.records.put(kind, since, { keep: 'existing' });
  }

  async #record({ isWhole, ...result }: VerificationResult, last: LogVerification | null): Promise<void> {
    const { records, log } = this.#options;
    const time = new Date(clock.time()).toISOString();
    const verification: LogVerification = { time, wholeTime: isWhole ? time : (last?.wholeTime ?? null), ...result };
    await records.put(kind, new Map([[key, { ...verification }]]));
    const { events, findings, findingCount } = verification;
    if (findingCount > 0)
      log.error({ findingCount, findings }, 'The log is not as its digests were made of: run events verify --digests');
    else log.info({ events, isWhole }, 'The log is verified');
  }

  #report(error: unknown, signal: AbortSignal): number {
    if (signal.aborted) return 0;
    const { log } = this.#options;
    if (error instanceof UnavailableError) log.warn({ error: error.message }, 'The log could not be verified yet');
    else log.error({ err: error }, 'The log could not be verified');
    return retryMs;
  }
}

/** Null before the first verification. @throws UnavailableError */
export async function readVerification(records: Pick<RecordStore, 'get'>): Promise<LogVerification | null> {
  const decoded = LogVerification.decode(await records.get(kind, key));
  return E.isRight(decoded) ? decoded.right : null;
}

/**
 * Returns when the log was last verified, in ms since 1970; before the first time since when it can be verified; null if
 * there is nothing to verify yet.
 * @throws UnavailableError
 */
export async function readVerifiedTime(records: Pick<RecordStore, 'get'>): Promise<number | null> {
  const last = await readVerification(records);
  const time = Date.parse(last?.time ?? String(await records.get(kind, awaitedKey)));
  return Number.isNaN(time) ? null : time;
}

/** The latest up to now of moments that come regularly. All in ms since 1970. */
function latestSlot(now: number, first: number, everyMs: number): number {
  return Math.floor((now - first) / everyMs) * everyMs + first;
}
