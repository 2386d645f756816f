import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import type { Logger as PinoLogger } from 'pino';
import type { StreamReport } from '#application/operations/operation.ts';
import { type ErrorForm, openAiErrors } from '#exchange/error-form.ts';
import { type BytesOfRequests, type GiveBack, Held } from '#exchange/held.ts';
import type { Plane } from '#exchange/problem.ts';
import { serviceOwner } from '#shared/async/fair-queue.ts';
import { ThrottledLog } from '#shared/logging/throttled-log.ts';
import { requestIdOf } from './request-headers.ts';
import type { SessionCookie } from './session-cookie.ts';

/** Answers that are followed while bytes of them wait for their clients. */
export interface FollowedAnswers {
  readonly follow: (res: ServerResponse, projectId: string | null) => void;
  readonly count: (res: ServerResponse) => void;
}

export interface RequestContext {
  readonly ctx: Context;
  readonly requestId: string;
  readonly path: string;
  readonly query: string;
  readonly started: number;
  plane: Plane;
  /** True if clients of both planes call this path, so an error has the members of both forms. */
  onBothPlanes: boolean;
  hasBody: boolean;
  errorForm: ErrorForm;
  /** The name for logs and metrics: never the path. */
  name: string;
  /** The path of the operation, with `{name}` for parameters; null without an operation. */
  pathTemplate: string | null;
  /** Why it was refused; null if it was not. */
  code: string | null;
  /** Whether it was refused because a store is known to be unavailable. */
  isOutage: boolean;
  /** What the gateway has relayed; null for nothing. */
  relayed: StreamReport | null;
  keyId: string | null;
  /** What the request holds until it is answered; of the caller's project as soon as the caller is known. */
  readonly held: Held;
  /** Ends the use of its place among the answers of its project that are being made; null without a place. */
  leavePlace: GiveBack | null;
  /** The open answers; null if the bytes of its answer are not counted. */
  readonly openAnswers: FollowedAnswers | null;
  /** The cookie of sessions; null if the request needs a key. */
  sessionCookie: SessionCookie | null;
  /** The rest of the rate limit, as alternating names and values; empty without a limit. */
  limitHeaders: ReadonlyArray<string>;
  /** Headers with what the operation has left out of the input; empty if it knows everything. */
  ignoredHeaders: ReadonlyArray<string>;
}

export function createRequestContext(
  ctx: Context,
  bytes?: BytesOfRequests,
  openAnswers: FollowedAnswers | null = null,
): RequestContext {
  const url = ctx.req.url ?? '/';
  const mark = url.indexOf('?');
  return {
    ctx,
    requestId: requestIdOf(ctx.req.headers),
    path: mark === -1 ? url : url.slice(0, mark),
    query: mark === -1 ? '' : url.slice(mark + 1),
    started: performance.now(),
    plane: 'control',
    onBothPlanes: false,
    hasBody: true,
    errorForm: openAiErrors,
    name: 'unknown',
    pathTemplate: null,
    code: null,
    isOutage: false,
    relayed: null,
    keyId: null,
    held: new Held(serviceOwner, bytes),
    leavePlace: null,
    openAnswers,
    sessionCookie: null,
    limitHeaders: [],
    ignoredHeaders: [],
  };
}

export function requestContextOf(ctx: Context): RequestContext {
  return ctx.state as RequestContext;
}

/** The status in logs and metrics when the client left before its answer was complete. */
const clientGoneStatus = 499;

/** Paths that machines ask for every few seconds: their log lines help only to find a fault. */
const polledPaths = new Set(['/healthz', '/readyz', '/metrics']);

/** During an outage of a store, the refused requests of this time share a line. */
const outageLineEveryMs = 1_000;

/** Counts an answered request, and its seconds. */
export interface RequestMetrics {
  readonly request: (operation: string, method: string, status: number, seconds: number) => void;
}

/** One line for every answered request, and the metrics. */
export class RequestLog {
  readonly #log: PinoLogger;
  readonly #outageLines: ThrottledLog;
  readonly #metrics: RequestMetrics;

  constructor(log: PinoLogger, metrics: RequestMetrics) {
    // Its fields are fixed and hold no secret. A search for secrets in every line would cost as much as the line.
    this.#log = log.child({}, { redact: [] });
    this.#outageLines = new ThrottledLog((fields, message) => this.#log.info(fields, message), outageLineEveryMs);
    this.#metrics = metrics;
  }

  record(context: RequestContext): void {
    const { ctx, name, pathTemplate, keyId, requestId, started, relayed } = context;
    const milliseconds = performance.now() - started;
    const method = methodOf(ctx.req.method);
    const status = relayed?.status ?? statusOf(ctx);
    this.#metrics.request(name, method, status, milliseconds / 1_000);
    const level = pathTemplate !== null && polledPaths.has(pathTemplate) ? 'debug' : 'info';
    if (!this.#log.isLevelEnabled(level)) return;
    const code = context.code ?? relayed?.code ?? null;
    const fields = {
      method,
      path: pathTemplate,
      operation: name,
      status,
      ms: Math.round(milliseconds * 100) / 100,
      ...(code === null ? {} : { code }),
      ...(relayed === null || relayed.model === null ? {} : modelFields(relayed)),
      requestId,
      keyId,
    };
    if (context.isOutage) this.#outageLines.write('outage', fields, 'request');
    else this.#log[level](fields, 'request');
  }
}

function modelFields({ model, target, attempts }: NonNullable<RequestContext['relayed']>) {
  return { model, target, attempts };
}

/** The status. An interrupted answer has a special one. */
function statusOf({ res }: Context): number {
  const isCutOff = res.destroyed && !res.writableFinished;
  return res.headersSent && !isCutOff ? res.statusCode : clientGoneStatus;
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The method as a label. Invented methods of clients must not add metrics. */
function methodOf(method: string | undefined): string {
  return method !== undefined && methods.has(method) ? method : 'other';
}
