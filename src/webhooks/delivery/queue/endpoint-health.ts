import type { IncomingHttpHeaders } from 'node:http';
import { parseRetryAfter } from '#shared/http/retry-after.ts';
import type { DeliveryState } from '#webhooks/state/delivery-state.ts';

/** Minimum number of failures. A service that was down for days has made only a few tries. */
const exhaustedAfterFailures = 8;

export class EndpointHealth {
  #failingSince: number | null;
  #failures: number;
  #restsUntil = 0;
  #heldUntil = 0;

  constructor({ failingSince, failures }: Pick<DeliveryState, 'failingSince' | 'failures'>) {
    this.#failingSince = failingSince;
    this.#failures = failures;
  }

  /** When the first of these tries failed. */
  get failingSince(): number | null {
    return this.#failingSince;
  }

  get failures(): number {
    return this.#failures;
  }

  /** True while the queue tries only one message at a time, with a long pause before each. */
  get isDead(): boolean {
    return this.#failures >= deadAfterFailures;
  }

  /** The queue tries nothing before this time, because the endpoint is dead or its receiver asks for a pause. */
  get restsUntil(): number {
    return Math.max(this.#restsUntil, this.#heldUntil);
  }

  /** True if every try has failed for three days. */
  isExhausted(now: number): boolean {
    return (
      this.#failingSince !== null && this.#failures >= exhaustedAfterFailures && now - this.#failingSince >= retryForMs
    );
  }

  recordSuccess(): void {
    this.#failingSince = null;
    this.#failures = 0;
    this.#restsUntil = 0;
  }

  recordFailure(now: number): void {
    this.#failingSince ??= now;
    this.#failures += 1;
    if (this.isDead) this.#restsUntil = now + probePauseMs(this.#failures);
  }

  /** Tries that run at this moment do not change that. */
  holdUntil(time: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, time);
  }

  /** The queue then tries immediately. */
  reset(): void {
    this.recordSuccess();
    this.#heldUntil = 0;
  }
}

export interface ReceiverRequest {
  /** True if the receiver wants no more messages, ever: 410. */
  readonly isGone: boolean;
  /** The wait before the next try; null if the answer does not say. */
  readonly retryAfterMs: number | null;
  /** True if all other messages must wait too: 429 and 503. */
  readonly isForAll: boolean;
}

/** Reads what the receiver asks for, as Standard Webhooks recommends. @param now in ms since 1970 */
export function readReceiverRequest(status: number, headers: IncomingHttpHeaders, now: number): ReceiverRequest {
  return {
    isGone: status === 410,
    retryAfterMs: parseRetryAfter(headers, now),
    isForAll: status === 429 || status === 503,
  };
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Pauses between the end of a try and the next one. The last pause repeats. */
const pausesMs = [5 * second, 30 * second, 2 * minute, 10 * minute, 30 * minute, hour, 2 * hour];
/** Each pause varies by this share, so that messages that failed together are not retried together. */
const jitter = 0.2;

/** A message is given up, and an endpoint disabled, if every try has failed for this long. */
export const retryForMs = 3 * 24 * hour;

/** Maximum pause of all messages that a receiver asks for. */
export const maxHoldMs = hour;

export interface FailedMessage {
  readonly attempts: number;
  /** When the first failed try ended, in ms since 1970. */
  readonly firstTriedAt: number;
  readonly now: number;
  /** 0 if the receiver does not ask for a pause. */
  readonly retryAfterMs: number;
  /** A random number from 0 to 1. */
  readonly random: number;
}

/** When the next try begins. A later time that the receiver asks for counts, but not beyond `retryForMs`. */
export function nextTryAt({ attempts, firstTriedAt, now, retryAfterMs, random }: FailedMessage): number {
  const requested = Math.min(now + retryAfterMs, firstTriedAt + retryForMs);
  return Math.max(now + retryPauseMs(attempts, random), requested);
}

/** The pause before the next try. @param attempts that have failed @param random from 0 to 1 */
function retryPauseMs(attempts: number, random: number): number {
  const pause = pausesMs[Math.min(attempts, pausesMs.length) - 1] ?? 0;
  return Math.round(pause * (1 - jitter + 2 * jitter * random));
}

/** Tries in a row. The queue of a dead endpoint then tries one message at a time. */
export const deadAfterFailures = 100;

const maxProbePauseMs = minute;

/** The pause after a try of a dead endpoint. @param failures in a row */
export function probePauseMs(failures: number): number {
  return Math.min(second * 2 ** Math.min(failures - deadAfterFailures, 10), maxProbePauseMs);
}
