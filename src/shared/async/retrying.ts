import { chance } from '#shared/chance.ts';
import { levelOf, PermanentlyUnavailableError, UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { delay } from './timed-waits.ts';

const retryLimits = { firstMs: 20, maxMs: 1000 };

export interface RetryOptions {
  readonly log: Logger;
  /** When it aborts, the last failure is thrown. */
  readonly signal: AbortSignal;
  /** Throws a failure that waiting does not cure immediately, as a start needs it. Default: it is retried too. */
  readonly throwsPermanent?: boolean;
}

/**
 * Calls a store until it is not unavailable any more. It waits longer after each failure, up to 1 s. It logs the first
 * failure, and the success after failures.
 * @param what the name of the call in the log
 * @throws what `call` throws other than UnavailableError; UnavailableError after the signal has aborted
 */
export async function retrying<Result>(what: string, call: () => Promise<Result>, by: RetryOptions): Promise<Result> {
  const backOff = new BackOff(retryLimits);
  for (let failures = 0; ; failures += 1) {
    try {
      const result = await call();
      if (failures > 0) by.log.info({ failures }, `${what} has succeeded`);
      return result;
    } catch (error) {
      if (!(error instanceof UnavailableError) || by.signal.aborted) throw error;
      if (error instanceof PermanentlyUnavailableError && by.throwsPermanent === true) throw error;
      if (failures === 0) by.log[levelOf(error)]({ error: error.message }, `${what} failed and is tried again`);
      await delay(backOff.failed(), by.signal);
    }
  }
}

/** The pause after an unexpected failure: a bug, or an unknown failure of a store. */
const restartMs = 5_000;

export interface RestartOptions {
  readonly log: Pick<Logger, 'error'>;
  /** Ends the restarts, after the work has ended. */
  readonly signal: AbortSignal;
  readonly message: string;
}

/** Restarts work that lasts until the signal aborts, 5 s after each failure. Never rejects. */
export async function restarting(work: () => Promise<void>, { log, signal, message }: RestartOptions): Promise<void> {
  while (!signal.aborted) {
    try {
      await work();
    } catch (error) {
      log.error({ err: error }, message);
      await delay(restartMs, signal);
    }
  }
}

export interface BackOffLimits {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * The pause, which is twice as long after each failure, up to a limit.
 * @param failures in a row, including the last one
 * @param random from 0 to 1, 1 excluded
 * @returns whole milliseconds, randomized by `spread`
 */
export function backOffMs(failures: number, { firstMs, maxMs }: BackOffLimits, random: number): number {
  return Math.round(spread(Math.min(firstMs * 2 ** (failures - 1), maxMs), random));
}

/**
 * A time between half of the given one and all of it, at random, so that callers that fail together do not retry
 * together.
 */
export function spread(milliseconds: number, random: number): number {
  return milliseconds * (0.5 + random / 2);
}

export class BackOff {
  readonly #limits: BackOffLimits;
  readonly #random: () => number;
  #failures = 0;

  /** @param random from 0 to 1, 1 excluded */
  constructor(limits: BackOffLimits, random: () => number = chance.random) {
    this.#limits = limits;
    this.#random = random;
  }

  /** @returns how long to wait before the next attempt, in whole milliseconds */
  failed(): number {
    this.#failures += 1;
    return backOffMs(this.#failures, this.#limits, this.#random());
  }

  /** Notes a success, so that the next failure counts as the first one. */
  succeeded(): void {
    this.#failures = 0;
  }
}
