import { apiSecurityHeaders, writeResponse } from '#http/response/response.ts';
import type { Route } from '#http/routes/router.ts';
import { withTimeout } from '#shared/async/timed-waits.ts';
import type { Metrics } from './metrics.ts';

export interface ReadinessCheck {
  readonly name: string;
  readonly ready: boolean;
  /** A text for an operator, without secrets. */
  readonly detail: string;
}

export type Readiness = () => Promise<ReadonlyArray<ReadinessCheck>>;

const readinessTimeoutMs = 2_000;
const metricsTimeoutMs = 2_000;
/** The callers of `sharedMs` who get answers of their own. Further ones share, because anybody may ask without a key. */
const maxUnshared = 50;
const sharedMs = 100;

const fresh = [...apiSecurityHeaders, 'Cache-Control', 'no-store', 'Content-Type'];
const json = [...fresh, 'application/json'];

/** `/healthz` shows that the process answers, `/readyz` that all parts that it needs answer too. */
export function healthRoutes(version: string, readiness: Readiness): ReadonlyArray<Route> {
  const healthy = JSON.stringify({ status: 'ok', service: 'service-api', version });
  const readinessAnswer = sharedAmongMany(() => answerOf(readiness));
  return [
    { method: 'GET', path: '/healthz', handler: async (ctx) => writeResponse(ctx, 200, json, healthy) },
    {
      method: 'GET',
      path: '/readyz',
      handler: async (ctx) => {
        const { ready, body } = await readinessAnswer();
        writeResponse(ctx, ready ? 200 : 503, ready ? json : [...json, 'Retry-After', '1'], body);
      },
    },
  ];
}

/**
 * Answers metrics in Prometheus' format. They are made once for all who ask before they are made, or before that takes
 * too long.
 */
export function metricsRoute(metrics: Metrics): Route {
  let making: Promise<string | null> | null = null;
  const text = () => {
    making ??= withTimeout(metricsTimeoutMs, metrics.text(), null).finally(() => {
      making = null;
    });
    return making;
  };
  return {
    method: 'GET',
    path: '/metrics',
    handler: async (ctx) => {
      const made = await text();
      if (made === null) writeResponse(ctx, 503, [...fresh, 'text/plain', 'Retry-After', '1'], 'no metrics in time\n');
      else writeResponse(ctx, 200, [...fresh, metrics.contentType], made);
    },
  };
}

/** Asks for the readiness. Never throws. */
async function answerOf(readiness: Readiness): Promise<{ readonly ready: boolean; readonly body: string }> {
  const checks = await withinLimit(readiness);
  const ready = checks.every((check) => check.ready);
  return { ready, body: JSON.stringify({ status: ready ? 'ready' : 'not-ready', checks }) };
}

/** Beyond a few calls in a short time, callers share the last call. */
function sharedAmongMany<Result>(call: () => Promise<Result>): () => Promise<Result> {
  let last: Promise<Result> | null = null;
  let windowFrom = Number.NEGATIVE_INFINITY;
  let callers = 0;
  return () => {
    const now = performance.now();
    if (now - windowFrom > sharedMs) [windowFrom, callers] = [now, 0];
    callers += 1;
    if (last === null || callers <= maxUnshared) last = call();
    return last;
  };
}

/** Limits a check. One that throws or takes too long counts as not ready. */
async function withinLimit(readiness: Readiness): Promise<ReadonlyArray<ReadinessCheck>> {
  const unready = (detail: string) => [{ name: 'readiness', ready: false, detail }];
  try {
    return await withTimeout(readinessTimeoutMs, readiness(), unready('no answer in time'));
  } catch {
    return unready('the checks failed');
  }
}
