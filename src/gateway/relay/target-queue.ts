import type { Target } from '#gateway/config/catalogue.ts';
import type { AttemptRecorder } from './attempt-recorder.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';

/** The targets of a call, of which it tries one after the other. */
export class TargetQueue {
  readonly #all: ReadonlyArray<Target>;
  readonly #left: Target[];
  readonly #breaker: CircuitBreaker;
  readonly #recorder: AttemptRecorder;
  #hasReturnedOne = false;

  constructor(targets: ReadonlyArray<Target>, breaker: CircuitBreaker, recorder: AttemptRecorder) {
    this.#all = targets;
    this.#left = [...targets];
    this.#breaker = breaker;
    this.#recorder = recorder;
  }

  /** Whether no other target has a closed circuit. */
  isLast(target: Target): boolean {
    return this.#all.every(({ id }) => id === target.id || this.#breaker.openUntil(id) > 0);
  }

  /** Whether a target whose circuit is not open has not been tried. */
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
