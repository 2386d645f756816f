import { binsOf, LatencySketch, quantileOf, relativeAccuracy } from '#domain/usage/latency-bins.ts';
import type { AttemptReport, AttemptResult } from './attempt-report.ts';

/** The number of time slices, and the length of each. */
const slices = 10;
const sliceMs = 30_000;

/** How far back counts and latencies go. */
export const healthWindowMs = slices * sliceMs;

/** The last failure of a target since the start of the node. */
export interface LastFailure {
  /** RFC 3339, UTC. */
  readonly time: string;
  readonly code: string;
  readonly status: number | null;
  readonly requestId: string;
}

/** The health of a target in the last minutes. */
export interface TargetRecord {
  readonly attempts: Readonly<Record<AttemptResult, number>>;
  /** The share of served attempts among those that were served or failed, from 0 to 1; null without any. */
  readonly successRate: number | null;
  /** Of the attempts that were served, within 2%; null without any. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly lastFailure: LastFailure | null;
}

interface Slice {
  readonly startedAt: number;
  readonly attempts: Record<AttemptResult, number>;
  readonly durations: LatencySketch;
}

interface History {
  recent: Slice[];
  lastFailure: LastFailure | null;
}

/** Collects the health of each target in the last minutes, on this node. The configuration's targets limit its size. */
export class TargetHealth {
  readonly #histories = new Map<string, History>();
  readonly #now: () => number;

  /** @param now in ms of the epoch */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  add({ target, result, error, durationMs, requestId }: AttemptReport): void {
    const history = this.#historyOf(target.id);
    const slice = this.#sliceOf(history);
    slice.attempts[result] += 1;
    if (result === 'served') slice.durations.add(durationMs);
    if (error !== null) history.lastFailure = { time: new Date(this.#now()).toISOString(), ...error, requestId };
  }

  record(target: string): TargetRecord {
    const history = this.#histories.get(target);
    const recent = history?.recent.filter(({ startedAt }) => this.#isRecent(startedAt)) ?? [];
    const attempts = { ...noAttempts };
    const durations = new LatencySketch();
    for (const slice of recent) {
      for (const result of results) attempts[result] += slice.attempts[result];
      durations.merge(slice.durations.distribution());
    }
    const bins = binsOf(durations.distribution(), relativeAccuracy);
    const judged = attempts.served + attempts.failed;
    return {
      attempts,
      successRate: judged === 0 ? null : attempts.served / judged,
      p50Ms: quantileOf(bins, 0.5),
      p95Ms: quantileOf(bins, 0.95),
      lastFailure: history?.lastFailure ?? null,
    };
  }

  /** Forgets all other targets. */
  keepOnly(targets: ReadonlySet<string>): void {
    for (const target of this.#histories.keys()) if (!targets.has(target)) this.#histories.delete(target);
  }

  #historyOf(target: string): History {
    const known = this.#histories.get(target);
    if (known !== undefined) return known;
    const history: History = { recent: [], lastFailure: null };
    this.#histories.set(target, history);
    return history;
  }

  #sliceOf(history: History): Slice {
    const now = this.#now();
    const last = history.recent.at(-1);
    if (last !== undefined && now - last.startedAt < sliceMs) return last;
    const slice = { startedAt: now, attempts: { ...noAttempts }, durations: new LatencySketch() };
    history.recent = [...history.recent.filter(({ startedAt }) => this.#isRecent(startedAt)), slice];
    return slice;
  }

  #isRecent(startedAt: number): boolean {
    return this.#now() - startedAt < healthWindowMs;
  }
}

const noAttempts: Readonly<Record<AttemptResult, number>> = { served: 0, refused: 0, failed: 0, abandoned: 0 };
const results = Object.keys(noAttempts) as ReadonlyArray<AttemptResult>;
