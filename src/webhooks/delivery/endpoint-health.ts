import type { DeliveryState } from '#webhooks/state/delivery-state.ts';
import { deadAfterFailures, probePauseMs, retryForMs } from './retry-schedule.ts';

/** Failed tries before an endpoint can be exhausted: a service that was down for days has tried little. */
const exhaustedAfterFailures = 8;

/** Counts the tries of an endpoint that have failed since the last success. */
export class EndpointHealth {
  #failingSince: number | null;
  #failures: number;
  #restsUntil = 0;

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

  /** A dead endpoint is not tried before this time. */
  get restsUntil(): number {
    return this.#restsUntil;
  }

  /** Whether every try has failed for three days. */
  isExhausted(now: number): boolean {
    return (
      this.#failingSince !== null && this.#failures >= exhaustedAfterFailures && now - this.#failingSince >= retryForMs
    );
  }

  recordSuccess(): void {
    this.forgetFailures();
    this.#restsUntil = 0;
  }

  recordFailure(now: number): void {
    this.#failingSince ??= now;
    this.#failures += 1;
    if (this.isDead) this.#restsUntil = now + probePauseMs(this.#failures);
  }

  forgetFailures(): void {
    this.#failingSince = null;
    this.#failures = 0;
  }
}
