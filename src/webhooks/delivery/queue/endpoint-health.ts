import type { DeliveryState } from '#webhooks/state/delivery-state.ts';
import { deadAfterFailures, probePauseMs, retryForMs } from './retry-schedule.ts';

/** Failed tries before an endpoint can be exhausted: a service that was down for days has tried little. */
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

  /** When the first of these tries failed; null without any. */
  get failingSince(): number | null {
    return this.#failingSince;
  }

  get failures(): number {
    return this.#failures;
  }

  /** Whether only one message at a time is tried, with a long pause before each. */
  get isDead(): boolean {
    return this.#failures >= deadAfterFailures;
  }

  /** The endpoint is not tried before this time: it is dead, or asked for it. */
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

  /** Its receiver wants nothing before a time. Tries that run meanwhile do not change that. */
  holdUntil(time: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, time);
  }

  /** Forgets everything, so that it is tried at once. */
  reset(): void {
    this.recordSuccess();
    this.#heldUntil = 0;
  }
}
