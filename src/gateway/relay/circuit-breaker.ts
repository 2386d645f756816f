/** Failures in a row that open a target's circuit. */
const failuresToOpen = 5;
/** How long a circuit stays open, and how often it then lets one call through: a recovery shows within three seconds. */
const openMs = 1_500;

interface BreakerState {
  failures: number;
  /** When the circuit is half-open, so that one call may try the target; null while it is closed. In monotonic ms. */
  openUntil: number | null;
  /** When the latest successful attempt began: failures of attempts that began before it no longer count. */
  lastSuccessAt: number;
}

/**
 * Opens the circuit of a target that keeps failing: no call goes to it. After a while the circuit is half-open: one call
 * in each period tries the target, whatever became of the one before. The first that succeeds closes the circuit.
 */
export class CircuitBreaker {
  readonly #states = new Map<string, BreakerState>();
  readonly #now: () => number;

  /** @param now a monotonic clock in ms */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether a target may be called now. Where its circuit is half-open, this takes the period's one call. */
  tryAcquire(target: string): boolean {
    const state = this.#states.get(target);
    if (state === undefined || state.openUntil === null) return true;
    const now = this.#now();
    if (now < state.openUntil) return false;
    state.openUntil = now + openMs;
    return true;
  }

  /** When a target may be tried again, to pick one where all circuits are open; 0 for a closed circuit. */
  openUntil(target: string): number {
    return this.#states.get(target)?.openUntil ?? 0;
  }

  /** Whether a target's circuit is open; false when it is half-open. */
  isOpen(target: string): boolean {
    return this.openUntil(target) > this.#now();
  }

  /**
   * Records that an answer has begun, which closes an open circuit; one more failure opens it again.
   * @param begunAt when the attempt began, by the monotonic clock in ms; so below
   */
  recordContent(target: string, begunAt: number): void {
    const state = this.#states.get(target);
    if (state === undefined || state.openUntil === null) return;
    state.openUntil = null;
    state.failures = Math.min(state.failures, failuresToOpen - 1);
    state.lastSuccessAt = Math.max(state.lastSuccessAt, begunAt);
  }

  /** Records a complete answer, which closes the circuit and resets its count of failures. */
  recordSuccess(target: string, begunAt: number): void {
    const state = this.#states.get(target);
    if (state === undefined) return;
    state.openUntil = null;
    state.failures = 0;
    state.lastSuccessAt = Math.max(state.lastSuccessAt, begunAt);
  }

  /**
   * Records a failed attempt. Many attempts that hung at once fail one after the other, some long after the target has
   * recovered: none of them keeps the circuit open for longer.
   */
  recordFailure(target: string, begunAt: number): void {
    const state = this.#stateOf(target);
    if (begunAt < state.lastSuccessAt) return;
    state.failures += 1;
    if (state.failures >= failuresToOpen) state.openUntil ??= this.#now() + openMs;
  }

  /** Opens the circuit of a target that asks for it by `Retry-After`. */
  open(target: string, milliseconds: number): void {
    const state = this.#stateOf(target);
    state.openUntil = Math.max(state.openUntil ?? 0, this.#now() + milliseconds);
  }

  #stateOf(target: string): BreakerState {
    const known = this.#states.get(target);
    if (known !== undefined) return known;
    const state: BreakerState = { failures: 0, openUntil: null, lastSuccessAt: Number.NEGATIVE_INFINITY };
    this.#states.set(target, state);
    return state;
  }

  /** Forgets all other targets. */
  keepOnly(targets: ReadonlySet<string>): void {
    for (const target of this.#states.keys()) if (!targets.has(target)) this.#states.delete(target);
  }
}
