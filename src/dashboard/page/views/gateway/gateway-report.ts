import type { GatewayHealth, TargetStatus } from '#dashboard/page/api/records.ts';

export interface Figures {
  readonly calls: number;
  readonly callsWithTokens: number;
  readonly errors: number;
  readonly failed: number;
  readonly brokenOff: number;
  readonly refused: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number | null;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
  readonly firstContentP50Ms: number | null;
  readonly firstContentP95Ms: number | null;
  readonly firstContentP99Ms: number | null;
}

type Gapped = ReadonlyArray<number | null>;
type Counts = ReadonlyArray<number>;

export interface Series {
  readonly calls: Counts;
  readonly errors: Counts;
  readonly cost: Gapped;
  readonly p50Ms: Gapped;
  readonly p95Ms: Gapped;
  readonly p99Ms: Gapped;
  readonly firstContentP50Ms: Gapped;
  readonly firstContentP95Ms: Gapped;
  readonly firstContentP99Ms: Gapped;
}

export interface ModelFigures {
  readonly model: string;
  /** The calls by the intervals of `breakdown`. */
  readonly calls: Counts;
  readonly totals: Figures;
}

/** Calls of a model that a target answered, by the intervals of `breakdown`. */
export interface RouteFigures {
  readonly model: string;
  readonly target: string;
  readonly calls: Counts;
  readonly total: number;
}

/** The answer to `GET /v1/dashboard/gateway`. */
export interface GatewayReport {
  readonly from: string;
  readonly until: string;
  readonly interval: 'minute' | 'quarter-hour' | 'hour' | 'day';
  readonly times: ReadonlyArray<string>;
  readonly totals: Figures;
  readonly series: Series;
  /** The same length of time; null if it is no longer kept. */
  readonly previous: {
    readonly from: string;
    readonly totals: Figures;
    readonly series: Pick<Series, 'calls' | 'errors' | 'cost'>;
  } | null;
  readonly operations: ReadonlyArray<{ readonly operation: string; readonly calls: Counts; readonly total: number }>;
  readonly models: ReadonlyArray<ModelFigures>;
  /** Null if the key is not an operator's or the answer does not cover all calls. */
  readonly routes: ReadonlyArray<RouteFigures> | null;
  readonly failedTries: ReadonlyArray<{
    readonly model: string;
    readonly target: string;
    readonly errorType: string;
    readonly tries: number;
  }> | null;
  readonly health: GatewayHealth | null;
}

const minutesOf = { minute: 1, 'quarter-hour': 15, hour: 60, day: 1_440 } as const;

/** The smallest part of the current interval that is used. Its first moments say little about a minute. */
const leastPart = 0.2;
const minuteMs = 60_000;

/** The past minutes of an interval. Only the current interval is not complete. */
function minutesPassed(
  { interval, times }: Pick<GatewayReport, 'interval' | 'times'>,
  index: number,
  now: number,
): number {
  const whole = minutesOf[interval];
  const passed = (now - Date.parse(times[index] ?? '')) / minuteMs;
  return Number.isFinite(passed) ? Math.min(whole, Math.max(whole * leastPart, passed)) : whole;
}

/** Only the past part of the current interval counts. */
export function perMinute(counts: Counts, answer: Pick<GatewayReport, 'interval' | 'times'>, now = Date.now()): Counts {
  return counts.map((count, index) => count / minutesPassed(answer, index, now));
}

export function perHour(costs: Gapped, answer: Pick<GatewayReport, 'interval' | 'times'>, now = Date.now()): Gapped {
  return costs.map((cost, index) => (cost === null ? null : (cost * 60) / minutesPassed(answer, index, now)));
}

/** Null for intervals without calls. */
export function errorPercents(calls: Counts, errors: Counts): Gapped {
  return calls.map((count, index) => (count === 0 ? null : ((errors[index] ?? 0) / count) * 100));
}

/** That is not null. */
export function newest(values: Gapped): number | null {
  return values.findLast((value) => value !== null) ?? null;
}

/** `+7% on the 24 h before`; empty if there were no calls before. */
export function comparison(now: number, before: number, range: string): string {
  if (before === 0) return '';
  const percent = Math.round(((now - before) / before) * 100);
  return `${percent > 0 ? '+' : percent < 0 ? '−' : '±'}${Math.abs(percent)}% on the ${range} before`;
}

/** The route of a model: the target that gets its calls now, and another one. */
export interface RouteHealth {
  readonly model: string;
  /** The first target in the catalogue. */
  readonly first: TargetStatus;
  readonly carrying: TargetStatus;
  /** It can get the calls. */
  readonly other: TargetStatus;
  readonly calls: number;
  readonly share: number | null;
}

/** The routes of models with more than one target. */
export function routesOf({ health, routes }: Pick<GatewayReport, 'health' | 'routes'>): ReadonlyArray<RouteHealth> {
  if (health === null) return [];
  const names = [...new Set(health.targets.flatMap(({ servesModels }) => servesModels))];
  return names.flatMap((model) => {
    const targets = health.targets.filter(({ servesModels }) => servesModels.includes(model));
    const [first, second] = targets;
    if (first === undefined || second === undefined) return [];
    const used = (routes ?? []).filter((each) => each.model === model);
    const lately = [...used].sort(
      (one, other) => latest(other.calls) - latest(one.calls) || other.total - one.total,
    )[0];
    const carrying =
      targets.find(({ target }) => target === lately?.target) ??
      targets.find(({ circuit }) => circuit === 'closed') ??
      first;
    const all = used.reduce((sum, { total }) => sum + total, 0);
    const calls = used.find(({ target }) => target === carrying.target)?.total ?? 0;
    const other = carrying === first ? second : carrying;
    return [{ model, first, carrying, other, calls, share: all === 0 ? null : Math.round((calls / all) * 100) }];
  });
}

function latest(counts: Counts): number {
  return (counts.at(-1) ?? 0) + (counts.at(-2) ?? 0);
}

/** A word and its colour. */
export function healthOf({ circuit, isKeyRefused }: TargetStatus): {
  readonly word: string;
  readonly tone: 'ok' | 'warn' | 'run' | 'bad';
} {
  if (isKeyRefused) return { word: 'key refused', tone: 'bad' };
  if (circuit === 'open') return { word: 'circuit open', tone: 'warn' };
  return circuit === 'half-open' ? { word: 'half-open', tone: 'run' } : { word: 'healthy', tone: 'ok' };
}
