/** Failures in a row after which a target is rested. */
const failuresToRest = 5;
/** How long it is rested, and how often it is then tried with one call: a recovery shows within three seconds. */
const restMs = 1_500;

interface Standing {
  failures: number;
  /** When it may be tried again; null while it is well. In ms of the monotonic clock. */
  restedUntil: number | null;
  /** When the latest attempt began of those that it answered. What began before tells nothing of it any more. */
  wellSince: number;
}

/**
 * Rests targets that keep failing. A rested one is tried with one call at a time at most every so often, whatever became
 * of the call before; the first that is served ends the rest.
 */
export class CircuitBreaker {
  readonly #standings = new Map<string, Standing>();
  readonly #now: () => number;

  /** @param now a monotonic clock in ms */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether a target may be asked now. Where it is rested this takes the turn to try it. */
  enter(target: string): boolean {
    const standing = this.#standings.get(target);
    if (standing === undefined || standing.restedUntil === null) return true;
    const now = this.#now();
    if (now < standing.restedUntil) return false;
    standing.restedUntil = now + restMs;
    return true;
  }

  /** When a target may be tried again, for picking one where all are rested; 0 for one that is well. */
  restedUntil(target: string): number {
    return this.#standings.get(target)?.restedUntil ?? 0;
  }

  /** Whether a target is rested, its turn to be tried not counted. */
  isResting(target: string): boolean {
    return this.restedUntil(target) > this.#now();
  }

  /**
   * An answer has begun: a rested target is asked again; one more failure, and it rests again.
   * @param begunAt when the attempt began, by the monotonic clock in ms; so below
   */
  answered(target: string, begunAt: number): void {
    const standing = this.#standings.get(target);
    if (standing === undefined || standing.restedUntil === null) return;
    standing.restedUntil = null;
    standing.failures = Math.min(standing.failures, failuresToRest - 1);
    standing.wellSince = Math.max(standing.wellSince, begunAt);
  }

  /** An answer is complete: what was before is forgotten. */
  succeeded(target: string, begunAt: number): void {
    const standing = this.#standings.get(target);
    if (standing === undefined) return;
    standing.restedUntil = null;
    standing.failures = 0;
    standing.wellSince = Math.max(standing.wellSince, begunAt);
  }

  /**
   * An attempt failed. Many that hung together fail one after the other, also long after the target's recovery: none of
   * them puts off its next turn.
   */
  failed(target: string, begunAt: number): void {
    const standing = this.#standingOf(target);
    if (begunAt < standing.wellSince) return;
    standing.failures += 1;
    if (standing.failures >= failuresToRest) standing.restedUntil ??= this.#now() + restMs;
  }

  /** Rests a target that asks to be left alone, for so long. */
  rest(target: string, milliseconds: number): void {
    const standing = this.#standingOf(target);
    standing.restedUntil = Math.max(standing.restedUntil ?? 0, this.#now() + milliseconds);
  }

  #standingOf(target: string): Standing {
    const known = this.#standings.get(target);
    if (known !== undefined) return known;
    const standing: Standing = { failures: 0, restedUntil: null, wellSince: Number.NEGATIVE_INFINITY };
    this.#standings.set(target, standing);
    return standing;
  }

  /** Forgets targets that there are no more. */
  keepOnly(targets: ReadonlySet<string>): void {
    for (const target of this.#standings.keys()) if (!targets.has(target)) this.#standings.delete(target);
  }
}
