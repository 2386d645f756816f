import { binsOf, LatencySketch, quantileOf, relativeAccuracy } from '#domain/usage/latency-bins.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { ThrottledLog } from '#shared/logging/throttled-log.ts';
import type { CircuitState } from './circuit-breaker.ts';

const slices = 10;
const sliceMs = 30_000;

/** How far back counts and latencies go. */
export const healthWindowMs = slices * sliceMs;

interface LastFailure {
  /** The time in RFC 3339, UTC. */
  readonly time: string;
  readonly code: string;
  readonly status: number | null;
  readonly requestId: string;
}

export interface TargetRecord {
  readonly attempts: Readonly<Record<AttemptResult, number>>;
  /** The share of served attempts among those that were served or failed, from 0 to 1; null without any. */
  readonly successRate: number | null;
  /** The median of the attempts that were served, within 2%; null without any. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly lastFailure: LastFailure | null;
  /** Whether the provider has refused the key of the last call that it has not served. */
  readonly isKeyRefused: boolean;
}

interface Slice {
  readonly startedAt: number;
  readonly attempts: Record<AttemptResult, number>;
  readonly durations: LatencySketch;
}

interface History {
  readonly provider: string;
  recent: Slice[];
  lastFailure: LastFailure | null;
  isKeyRefused: boolean;
}

/** The health of targets on this node, in the last minutes. The configuration's targets limit its size. */
export class TargetHealth {
  readonly #histories = new Map<string, History>();
  readonly #now: () => number;

  /** @param now in ms of the epoch */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  add({ target, result, error, isKeyRefused = false, durationMs, requestId }: AttemptReport): void {
    const history = this.#historyOf(target);
    if (isKeyRefused) history.isKeyRefused = true;
    else if (result === 'served') history.isKeyRefused = false;
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
      isKeyRefused: history?.isKeyRefused ?? false,
    };
  }

  keepOnly(targets: ReadonlySet<string>): void {
    for (const target of this.#histories.keys()) if (!targets.has(target)) this.#histories.delete(target);
  }

  /** Forgets the refusals of providers whose entry or key has changed. */
  forgetRefusedKeys(providers: ReadonlySet<string>): void {
    for (const history of this.#histories.values()) if (providers.has(history.provider)) history.isKeyRefused = false;
  }

  #historyOf({ id, provider }: AttemptedTarget): History {
    const known = this.#histories.get(id);
    if (known !== undefined) return known;
    const history: History = { provider, recent: [], lastFailure: null, isKeyRefused: false };
    this.#histories.set(id, history);
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

/** Minimum time between two log lines about one target and code. */
const intervalMs = 10_000;

/**
 * Logs every failed attempt and every change of a circuit at `warn`, because a successful fallback must not hide them.
 */
export class AttemptLog implements AttemptObserver {
  readonly #log: ThrottledLog;

  constructor(log: Pick<Logger, 'warn'>) {
    this.#log = new ThrottledLog((fields, message) => log.warn(fields, message), intervalMs);
  }

  readonly attempt = (report: AttemptReport): void => {
    const { target, error, requestId, thrown } = report;
    if (error === null) return;
    const place = thrown === undefined ? {} : { thrown: placeOf(thrown) };
    this.#log.write(
      `${target.id}\n${error.code}`,
      { ...fieldsOf({ target, error, requestId }), ...place },
      'an attempt at a target failed',
    );
  };

  readonly circuit = (change: CircuitChange): void => {
    const { target, state } = change;
    this.#log.write(`${target.id}\n${state} circuit`, { ...fieldsOf(change), circuit: state }, messages[state]);
  };

  close(): void {
    this.#log.close();
  }
}

const messages: Readonly<Record<CircuitChange['state'], string>> = {
  open: 'the circuit of a target is open: it gets no calls for a while',
  'half-open': 'the circuit of a target is half-open: one call tries it',
  closed: 'the circuit of a target is closed: it gets calls again',
};

function fieldsOf({ target, error, requestId }: Pick<CircuitChange, 'target' | 'error' | 'requestId'>) {
  const { id, provider, model } = target;
  return { provider, model, target: id, ...errorFields(error), requestId };
}

/** Where an error was thrown, with its name. Its message may quote a client's or a provider's text. */
function placeOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown;
  const frames = (thrown.stack ?? '').split('\n').filter((line) => /^ {4}at /.test(line));
  return [thrown.name, ...frames.slice(0, maxFrames)].join('\n');
}

const maxFrames = 5;

function errorFields(error: AttemptError | null) {
  return error === null ? {} : { code: error.code, status: error.status };
}

interface AttemptedTarget {
  /** `provider/model`. */
  readonly id: string;
  readonly provider: string;
  /** The model as the provider calls it. */
  readonly model: string;
}

/** `served`, `refused` (the request is invalid), `failed`, or `abandoned` if the client left. */
export type AttemptResult = 'served' | 'refused' | 'failed' | 'abandoned';

/** The error of an attempt, without the provider's message, which may quote the client's request. */
export interface AttemptError {
  /** The provider's code or the gateway's: `rate_limit_exceeded`, `provider_timeout`, … */
  readonly code: string;
  /** The provider's HTTP status; null without a response. */
  readonly status: number | null;
}

export interface AttemptReport {
  readonly target: AttemptedTarget;
  readonly result: AttemptResult;
  /** The error; null if the attempt was served or abandoned. */
  readonly error: AttemptError | null;
  /** Whether the provider refused the gateway's key. Default false. */
  readonly isKeyRefused?: boolean;
  /** What the gateway's own code threw when it read the answer. */
  readonly thrown?: unknown;
  readonly durationMs: number;
  readonly requestId: string;
}

export interface CircuitChange {
  readonly target: AttemptedTarget;
  readonly state: CircuitState;
  /** The failure that opened it; null for another change. */
  readonly error: AttemptError | null;
  readonly requestId: string;
}

/** Observes attempts. It is called during calls, and must never throw and never wait. */
export interface AttemptObserver {
  readonly attempt: (report: AttemptReport) => void;
  readonly circuit: (change: CircuitChange) => void;
}
