import type { DeliveryState } from '#webhooks/state/delivery-state.ts';
import { deadAfterFailures, probePauseMs, retryForMs } from './retry-schedule.ts';

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

  /** When the first of these tries failed; null if there is none. */
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
