/** What calls came to. */
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

export interface TargetHealth {
  readonly target: string;
  readonly servesModels: ReadonlyArray<string>;
  readonly circuit: 'closed' | 'open' | 'half-open';
  readonly attempts: {
    readonly served: number;
    readonly refused: number;
    readonly failed: number;
    readonly abandoned: number;
  };
  readonly successRate: number | null;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly lastFailure: { readonly time: string; readonly code: string; readonly status: number | null } | null;
}

export interface ModelFigures {
  readonly model: string;
  /** By the intervals of `breakdown`. */
  readonly calls: Counts;
  readonly totals: Figures;
}

/** Which target answered how many calls of a model, by the intervals of `breakdown`. */
export interface RouteFigures {
  readonly model: string;
  readonly target: string;
  readonly calls: Counts;
  readonly total: number;
}

export interface CircuitChange {
  readonly time: string;
  readonly target: string;
  readonly circuit: 'closed' | 'open' | 'half-open';
  readonly code: string | null;
  readonly status: number | null;
}

/** `GET /v1/dashboard/gateway`. */
export interface GatewayAnswer {
  readonly from: string;
  readonly until: string;
  readonly interval: 'minute' | 'quarter-hour' | 'hour' | 'day';
  readonly times: ReadonlyArray<string>;
  readonly totals: Figures;
  readonly series: Series;
  /** The same length of time before; null where it is no longer kept. */
  readonly previous: {
    readonly from: string;
    readonly totals: Figures;
    readonly series: Pick<Series, 'calls' | 'errors' | 'cost'>;
  } | null;
  readonly operations: ReadonlyArray<{ readonly operation: string; readonly calls: Counts; readonly total: number }>;
  readonly models: ReadonlyArray<ModelFigures>;
  /** Null for any key but an operator's, and where the answer is not of all calls. */
  readonly routes: ReadonlyArray<RouteFigures> | null;
  readonly failedTries: ReadonlyArray<{
    readonly model: string;
    readonly target: string;
    readonly errorType: string;
    readonly tries: number;
  }> | null;
  readonly health: {
    readonly node: string;
    readonly windowSeconds: number;
    readonly targets: ReadonlyArray<TargetHealth>;
    readonly circuitChanges: ReadonlyArray<CircuitChange>;
  } | null;
}

const minutesOf = { minute: 1, 'quarter-hour': 15, hour: 60, day: 1_440 } as const;

/** The part of the running interval that counts at least: calls of its first moments say little of a minute. */
const leastPart = 0.2;
const minuteMs = 60_000;

/** Minutes of an interval that have passed: all of it, but for the running one. */
function minutesPassed(
  { interval, times }: Pick<GatewayAnswer, 'interval' | 'times'>,
  index: number,
  now: number,
): number {
  const whole = minutesOf[interval];
  const passed = (now - Date.parse(times[index] ?? '')) / minuteMs;
  return Number.isFinite(passed) ? Math.min(whole, Math.max(whole * leastPart, passed)) : whole;
}

/** Counts by interval as counts a minute; the running interval counts as far as it has passed. */
export function perMinute(counts: Counts, answer: Pick<GatewayAnswer, 'interval' | 'times'>, now = Date.now()): Counts {
  return counts.map((count, index) => count / minutesPassed(answer, index, now));
}

/** Costs by interval as costs an hour. */
export function perHour(costs: Gapped, answer: Pick<GatewayAnswer, 'interval' | 'times'>, now = Date.now()): Gapped {
  return costs.map((cost, index) => (cost === null ? null : (cost * 60) / minutesPassed(answer, index, now)));
}

/** The share of calls that failed, in percent; a gap where there was no call. */
export function errorPercents(calls: Counts, errors: Counts): Gapped {
  return calls.map((count, index) => (count === 0 ? null : ((errors[index] ?? 0) / count) * 100));
}

/** The newest value that there is. */
export function newest(values: Gapped): number | null {
  return values.findLast((value) => value !== null) ?? null;
}

/** `+7% on the 24 h before`; nothing where there was nothing before. */
export function comparison(now: number, before: number, range: string): string {
  if (before === 0) return '';
  const percent = Math.round(((now - before) / before) * 100);
  return `${percent > 0 ? '+' : percent < 0 ? '−' : '±'}${Math.abs(percent)}% on the ${range} before`;
}

/** Which target carries a model's calls, and which it could. */
export interface Route {
  readonly model: string;
  /** The first one that the catalogue names. */
  readonly first: TargetHealth;
  readonly carrying: TargetHealth;
  /** Another one that could carry them. */
  readonly other: TargetHealth;
  readonly calls: number;
  readonly share: number | null;
}

/** The routes of models with more than one target. */
export function routesOf({ health, routes }: Pick<GatewayAnswer, 'health' | 'routes'>): ReadonlyArray<Route> {
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

/** The word for a target's circuit, and its status. */
export function healthOf({ circuit }: TargetHealth): { readonly word: string; readonly tone: 'ok' | 'warn' | 'run' } {
  if (circuit === 'open') return { word: 'resting', tone: 'warn' };
  return circuit === 'half-open' ? { word: 'being tried', tone: 'run' } : { word: 'well', tone: 'ok' };
}
