/** The length of a time slice. Calls are remembered for one to two slices. */
const sliceMs = 30_000;
/** Fewer calls than these say little about a target. */
const minCalls = 20;
/** The share of failed calls from which on a target fails often. */
const oftenShare = 0.5;

interface Slice {
  readonly startedAt: number;
  calls: number;
  failed: number;
}

/** Counts the calls of one target in the last 30 to 60 seconds, and how many of them failed by the provider's fault. */
export class RecentCalls {
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

  /** Whether at least half of at least twenty calls have failed. */
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
