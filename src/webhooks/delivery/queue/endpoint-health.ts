import type { IncomingHttpHeaders } from 'node:http';
import { parseRetryAfter } from '#shared/http/retry-after.ts';
import type { DeliveryState } from '#webhooks/state/delivery-state.ts';

/** Failed tries before an endpoint counts as exhausted. A service that was down for days has made only a few tries. */
const exhaustedAfterFailures = 8;

/** Counts the tries of an endpoint that have failed since the last success. */
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

  /** Whether the queue tries only one message at a time, with a long pause before each. */
  get isDead(): boolean {
    return this.#failures >= deadAfterFailures;
  }

  /** The queue tries nothing before this time, because the endpoint is dead or its receiver asks for a pause. */
  get restsUntil(): number {
    return Math.max(this.#restsUntil, this.#heldUntil);
  }

  /** Whether every try has failed for three days. */
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

  /** Records that the receiver wants nothing before a time. Tries that run at this moment do not change that. */
  holdUntil(time: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, time);
  }

  /** Forgets all failures and pauses, so that the queue tries immediately. */
  reset(): void {
    this.recordSuccess();
    this.#heldUntil = 0;
  }
}

/** What a receiver asks for when it refuses a message. */
export interface ReceiverRequest {
  /** It wants no more messages, ever: 410. */
  readonly isGone: boolean;
  /** How long to wait before the next try, in ms; null if the answer does not say. */
  readonly retryAfterMs: number | null;
  /** Whether all other messages must wait too: 429 and 503. */
  readonly isForAll: boolean;
}

/** Reads what a receiver asks for, as Standard Webhooks recommends. @param now in ms since 1970 */
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

/** The pauses between the end of a try and the next one. The last pause repeats. */
const pausesMs = [5 * second, 30 * second, 2 * minute, 10 * minute, 30 * minute, hour, 2 * hour];
/** The share by which each pause varies, so that messages that failed together are not retried together. */
const jitter = 0.2;

/** A message is given up, and an endpoint disabled, if every try has failed for this long. */
export const retryForMs = 3 * 24 * hour;

/** The longest pause of all messages that a receiver can ask for. */
export const maxHoldMs = hour;

/** A message whose try has failed. */
export interface FailedMessage {
  /** Tries that have failed. */
  readonly attempts: number;
  /** When the first failed try ended, in ms since 1970. */
  readonly firstTriedAt: number;
  readonly now: number;
  /** How long the receiver asks to wait; 0 if it does not ask. */
  readonly retryAfterMs: number;
  /** From 0 to 1. */
  readonly random: number;
}

/** Returns when to try a message again. A later time that the receiver asks for counts, but not beyond `retryForMs`. */
export function nextTryAt({ attempts, firstTriedAt, now, retryAfterMs, random }: FailedMessage): number {
  const requested = Math.min(now + retryAfterMs, firstTriedAt + retryForMs);
  return Math.max(now + retryPauseMs(attempts, random), requested);
}

/** How long to wait before the next try. @param attempts tries that have failed @param random from 0 to 1 */
function retryPauseMs(attempts: number, random: number): number {
  const pause = pausesMs[Math.min(attempts, pausesMs.length) - 1] ?? 0;
  return Math.round(pause * (1 - jitter + 2 * jitter * random));
}

/** Failed tries in a row after which an endpoint counts as dead. Its queue then tries one message at a time. */
export const deadAfterFailures = 100;

const maxProbePauseMs = minute;

/** The pause after a try of a dead endpoint, in ms. @param failures tries in a row that have failed */
export function probePauseMs(failures: number): number {
  return Math.min(second * 2 ** Math.min(failures - deadAfterFailures, 10), maxProbePauseMs);
}
