const failuresToOpen = 5;
/** How long a circuit stays open, and how often it then lets one call through: a recovery shows within three seconds. */
const openMs = 1_500;

/** `closed`: calls go to the target. `open`: none do. `half-open`: the next call, or the running one, tries it. */
export type CircuitState = 'closed' | 'open' | 'half-open';

interface BreakerState {
  failures: number;
  /** When the circuit is half-open, so that one call may try the target; null while it is closed. In monotonic ms. */
  openUntil: number | null;
  /** Whether a call of the half-open circuit is running. */
  hasProbe: boolean;
  /** When a call may try the target out of turn; in monotonic ms. */
  outOfTurnFrom: number;
  /** When the latest successful attempt began: failures of attempts that began before it no longer count. */
  lastSuccessAt: number;
  /** When the attempt began that closed the circuit last: failures of earlier attempts tell about an earlier outage. */
  recoveredAt: number;
  readonly recent: RecentCalls;
}

/**
 * Opens the circuit of a target that keeps failing or fails often, so that no call goes to it. After a while the circuit is half-open:
 * one call in each period tries the target, even if the call before has not ended. The first successful call closes the
 * circuit.
 */
export class CircuitBreaker {
  readonly #states = new Map<string, BreakerState>();
  readonly #now: () => number;

  /** @param now a monotonic clock in ms */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Takes a place for a call. On a half-open circuit this uses the period's one call. */
  tryAcquire(target: string): boolean {
    const state = this.#states.get(target);
    if (state === undefined || state.openUntil === null) return true;
    const now = this.#now();
    if (now < state.openUntil) return false;
    state.openUntil = now + openMs;
    state.outOfTurnFrom = state.openUntil;
    state.hasProbe = true;
    return true;
  }

  /**
   * Whether a target whose circuit is open may be called because another one has refused the request. As with a half-open
   * circuit, one call in each period may: most of these requests are wrong, and a client can send any number of them.
   */
  tryOutOfTurn(target: string): boolean {
    const state = this.#states.get(target);
    if (state === undefined || state.openUntil === null) return true;
    const now = this.#now();
    if (now < state.outOfTurnFrom) return false;
    state.outOfTurnFrom = now + openMs;
    return true;
  }

  state(target: string): CircuitState {
    const state = this.#states.get(target);
    if (state === undefined || state.openUntil === null) return 'closed';
    return state.hasProbe || state.openUntil <= this.#now() ? 'half-open' : 'open';
  }

  /** When the circuit is half-open; 0 for a closed one. The time orders targets whose circuits are all open. */
  openUntil(target: string): number {
    return this.#states.get(target)?.openUntil ?? 0;
  }

  /** True while the circuit is open, but not when it is half-open. */
  isOpen(target: string): boolean {
    return this.openUntil(target) > this.#now();
  }

  /**
   * Closes an open circuit; one more failure opens it again.
   * @param begunAt when the attempt began, by the monotonic clock in ms; so below
   * @returns whether that has closed the circuit
   */
  recordContent(target: string, begunAt: number): boolean {
    const state = this.#states.get(target);
    if (state === undefined || state.openUntil === null) return false;
    close(state, begunAt);
    state.failures = Math.min(state.failures, failuresToOpen - 1);
    return true;
  }

  /**
   * Records a complete answer, which closes the circuit and resets its count of failures.
   * @returns whether the circuit was not closed before
   */
  recordSuccess(target: string, begunAt: number): boolean {
    const state = this.#stateOf(target);
    state.recent.add(false, this.#now());
    const isClosing = state.openUntil !== null;
    close(state, begunAt);
    state.failures = 0;
    return isClosing;
  }

  /**
   * Records a failure. Concurrent attempts that hang fail one after the other, some long after the target has
   * recovered. These do not keep the circuit open for longer.
   * @param isLast whether no other target is left. Then the circuit stays closed although the target fails often
   * @returns whether that has opened the circuit, from closed or half-open
   */
  recordFailure(target: string, begunAt: number, isLast = false): boolean {
    const state = this.#stateOf(target);
    const now = this.#now();
    const isSinceRecovery = begunAt >= state.recoveredAt;
    if (isSinceRecovery) state.recent.add(true, now);
    const isCurrent = begunAt >= state.lastSuccessAt;
    if (isCurrent) state.failures += 1;
    const isOpening =
      state.openUntil === null
        ? state.failures >= failuresToOpen || (isSinceRecovery && !isLast && state.recent.failsOften(now))
        : isCurrent && state.hasProbe;
    if (isCurrent) state.hasProbe = false;
    if (isOpening) state.openUntil ??= now + openMs;
    return isOpening;
  }

  /**
   * Ends the try of a half-open circuit that says nothing about the target, because its client has left. The next call
   * may try the target immediately.
   * @param until the end of the period that the try has used: `openUntil` after its `tryAcquire`
   */
  release(target: string, until: number): void {
    const state = this.#states.get(target);
    if (state === undefined || !state.hasProbe || state.openUntil !== until) return;
    state.hasProbe = false;
    state.openUntil = this.#now();
  }

  /**
   * Opens the circuit of a target that asks for it by `Retry-After`.
   * @returns whether it was closed or half-open before
   */
  open(target: string, milliseconds: number): boolean {
    const state = this.#stateOf(target);
    const isOpening = state.openUntil === null || state.hasProbe;
    state.hasProbe = false;
    state.openUntil = Math.max(state.openUntil ?? 0, this.#now() + milliseconds);
    return isOpening;
  }

  #stateOf(target: string): BreakerState {
    const known = this.#states.get(target);
    if (known !== undefined) return known;
    const never = Number.NEGATIVE_INFINITY;
    const times = { lastSuccessAt: never, recoveredAt: never };
    const probes = { openUntil: null, hasProbe: false, outOfTurnFrom: never };
    const state = { failures: 0, ...probes, ...times, recent: new RecentCalls() };
    this.#states.set(target, state);
    return state;
  }

  keepOnly(targets: ReadonlySet<string>): void {
    for (const target of this.#states.keys()) if (!targets.has(target)) this.#states.delete(target);
  }
}

function close(state: BreakerState, begunAt: number): void {
  if (state.openUntil !== null) state.recoveredAt = begunAt;
  state.openUntil = null;
  state.hasProbe = false;
  state.lastSuccessAt = Math.max(state.lastSuccessAt, begunAt);
}

/** The length of a slice. Calls are remembered for one to two slices. */
const sliceMs = 30_000;
/** Minimum number of calls. Fewer say little about a target. */
const minCalls = 20;
const oftenShare = 0.5;

interface Slice {
  readonly startedAt: number;
  calls: number;
  failed: number;
}

/** The calls of one target in the last 30 to 60 seconds; those failed that the provider was at fault for. */
class RecentCalls {
  #current: Slice = emptySlice(Number.NEGATIVE_INFINITY);
  #before = this.#current;

  /** @param now a monotonic clock in ms; so below */
  add(isFailed: boolean, now: number): void {
    if (now - this.#current.startedAt >= sliceMs) {
      this.#before = this.#current;
      this.#current = emptySlice(now);
    }
    this.#current.calls += 1;
    if (isFailed) this.#current.failed += 1;
  }

  /** True if at least half of at least twenty calls failed. */
  failsOften(now: number): boolean {
    const slices = [this.#before, this.#current].filter(({ startedAt }) => now - startedAt < 2 * sliceMs);
    const calls = slices.reduce((sum, slice) => sum + slice.calls, 0);
    const failed = slices.reduce((sum, slice) => sum + slice.failed, 0);
    return calls >= minCalls && failed >= calls * oftenShare;
  }
}

function emptySlice(startedAt: number): Slice {
  return { startedAt, calls: 0, failed: 0 };
}
