import type { Target } from '#gateway/config/catalogue.ts';
import type { AttemptRecorder } from './attempt-recorder.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';

/** The targets that a call has not tried, in order. */
export class TargetQueue {
  readonly #left: Target[];
  readonly #breaker: CircuitBreaker;
  readonly #recorder: AttemptRecorder;
  #hasReturnedOne = false;

  constructor(targets: Target[], breaker: CircuitBreaker, recorder: AttemptRecorder) {
    this.#left = targets;
    this.#breaker = breaker;
    this.#recorder = recorder;
  }

  /** Whether it has a target whose circuit is not open. */
  get hasUsable(): boolean {
    return this.#left.some(({ id }) => !this.#breaker.isOpen(id));
  }

  /**
   * Returns the next target that may be called. If all circuits are open from the start, returns the one whose circuit
   * is half-open first.
   */
  next(fits: (target: Target) => boolean = () => true): Target | null {
    const target = this.#nextAllowed(fits);
    if (target !== null) this.#hasReturnedOne = true;
    return target;
  }

  #nextAllowed(fits: (target: Target) => boolean): Target | null {
    const skipped: Target[] = [];
    for (let target = this.#left.shift(); target !== undefined; target = this.#left.shift()) {
      if (!fits(target)) continue;
      if (this.#recorder.tryAcquire(target)) return target;
      skipped.push(target);
    }
    if (this.#hasReturnedOne) return null;
    const openUntil = ({ id }: Target) => this.#breaker.openUntil(id);
    const [first = null] = skipped.toSorted((one, other) => openUntil(one) - openUntil(other));
    return first;
  }
}
