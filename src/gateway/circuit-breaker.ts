/** Failures in a row after which a target is rested. */
const failuresToOpen = 5;
/** How long it is rested, and how often it is then tried with one call: a recovery shows within three seconds. */
const openMs = 1_500;

interface BreakerState {
  failures: number;
  /** When it may be tried again; null while it is well. In ms of the monotonic clock. */
  openUntil: number | null;
  /** When the latest attempt began of those that it answered. What began before tells nothing of it any more. */
  lastSuccessAt: number;
}

/**
 * Rests targets that keep failing. A rested one is tried with one call at a time at most every so often, whatever became
 * of the call before; the first that is served ends the rest.
 */
export class CircuitBreaker {
  readonly #states = new Map<string, BreakerState>();
  readonly #now: () => number;

  /** @param now a monotonic clock in ms */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether a target may be asked now. Where it is rested this takes the turn to try it. */
  tryAcquire(target: string): boolean {
    const standing = this.#states.get(target);
    if (standing === undefined || standing.openUntil === null) return true;
    const now = this.#now();
    if (now < standing.openUntil) return false;
    standing.openUntil = now + openMs;
    return true;
  }

  /** When a target may be tried again, for picking one where all are rested; 0 for one that is well. */
  openUntil(target: string): number {
    return this.#states.get(target)?.openUntil ?? 0;
  }

  /** Whether a target is rested, its turn to be tried not counted. */
  isOpen(target: string): boolean {
    return this.openUntil(target) > this.#now();
  }

  /**
   * An answer has begun: a rested target is asked again; one more failure, and it rests again.
   * @param begunAt when the attempt began, by the monotonic clock in ms; so below
   */
  recordContent(target: string, begunAt: number): void {
    const standing = this.#states.get(target);
    if (standing === undefined || standing.openUntil === null) return;
    standing.openUntil = null;
    standing.failures = Math.min(standing.failures, failuresToOpen - 1);
    standing.lastSuccessAt = Math.max(standing.lastSuccessAt, begunAt);
  }

  /** An answer is complete: what was before is forgotten. */
  recordSuccess(target: string, begunAt: number): void {
    const standing = this.#states.get(target);
    if (standing === undefined) return;
    standing.openUntil = null;
    standing.failures = 0;
    standing.lastSuccessAt = Math.max(standing.lastSuccessAt, begunAt);
  }

  /**
   * An attempt failed. Many that hung together fail one after the other, also long after the target's recovery: none of
   * them puts off its next turn.
   */
  recordFailure(target: string, begunAt: number): void {
    const standing = this.#stateOf(target);
    if (begunAt < standing.lastSuccessAt) return;
    standing.failures += 1;
    if (standing.failures >= failuresToOpen) standing.openUntil ??= this.#now() + openMs;
  }

  /** Rests a target that asks to be left alone, for so long. */
  open(target: string, milliseconds: number): void {
    const standing = this.#stateOf(target);
    standing.openUntil = Math.max(standing.openUntil ?? 0, this.#now() + milliseconds);
  }

  #stateOf(target: string): BreakerState {
    const known = this.#states.get(target);
    if (known !== undefined) return known;
    const standing: BreakerState = { failures: 0, openUntil: null, lastSuccessAt: Number.NEGATIVE_INFINITY };
    this.#states.set(target, standing);
    return standing;
  }

  /** Forgets targets that there are no more. */
  keepOnly(targets: ReadonlySet<string>): void {
    for (const target of this.#states.keys()) if (!targets.has(target)) this.#states.delete(target);
  }
}
