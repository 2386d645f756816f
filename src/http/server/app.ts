import { hash } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import type Koa from 'koa';
import type { Context } from 'koa';
import type { Logger } from 'pino';
import { ByteBudget, type ByteHold } from '#application/access/byte-budget.ts';
import { defaultBodyByteLimits } from '#application/bodies/body-failures.ts';
import type { CallTarget, Invoke } from '#application/operations/invoke.ts';
import { openApiDocument } from '#application/operations/openapi.ts';
import type { AnyOperation, Plane, RequestInput } from '#application/operations/operation.ts';
import { createRoutes, type OperationRoute } from '#application/operations/registry.ts';
import { failureOfError } from '#application/operations/unexpected-error.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import type { Caller } from '#domain/shared/tenancy.ts';
import { HttpBody } from '#http/request/http-body.ts';
import { readQueryParameters } from '#http/request/query-parameters.ts';
import { jsonBodyReader } from '#http/request/request-body.ts';
import { ifMatchOf, neverRevision, presentedKeyOf, requestHeadersOf } from '#http/request/request-headers.ts';
import { HttpResponse } from '#http/response/http-response.ts';
import { createResponseHeaders } from '#http/response/operation-response.ts';
import { createErrorResponse } from '#http/response/problem.ts';
import { apiSecurityHeaders, noStoreHeaders, writeResponse } from '#http/response/response.ts';
import { answerText } from '#http/response/response-text.ts';
import { docsPath, docsRoutes } from '#http/routes/docs.ts';
import { healthRoutes, metricsRoute, type Readiness } from '#http/routes/health.ts';
import type { Metrics } from '#http/routes/metrics.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { createRequestContext, type RequestContext } from './request-context.ts';
import { createRouter, type RequestRouter, type Route } from './router.ts';
import { SlimKoa } from './slim-koa.ts';

/** What the HTTP adapter needs. */
export interface AppOptions {
  readonly operations: ReadonlyArray<AnyOperation>;
  /** Answers operations. */
  readonly invoke: Invoke;
  readonly readiness: Readiness;
  /** As `/healthz` tells it. */
  readonly version: string;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly limits: {
    readonly maxBodyBytes: number;
    /** Values in a JSON body at most. Default 50,000. */
    readonly maxBodyValues?: number;
  };
  /** Counts the bytes that bodies hold. Default one of its own with the default limits. */
  readonly bodies?: ByteBudget;
  /** The planes whose operations are answered here; documentation goes with the control plane. Default both. */
  readonly planes?: ReadonlySet<Plane>;
  /** Whether `/metrics` is answered here; false when it has a port of its own. Default true. */
  readonly servesMetrics?: boolean;
  /** Further paths that need no key. */
  readonly publicRoutes?: ReadonlyArray<Route>;
}

/**
 * The Koa app: operations by their HTTP lines, documentation, health and metrics.
 * @throws Error for a mistake in the operations (two on one path, a codec without a schema)
 */
export function createApp(options: AppOptions): Koa {
  const adapter = new HttpAdapter(options);
  const app = new SlimKoa();
  app.use((ctx) => adapter.answer(ctx));
  return app;
}

/** An app that answers `/metrics` alone, for a port of its own. */
export function createMetricsApp(metrics: Metrics): Koa {
  const dispatch = createRouter([metricsRoute(metrics)]);
  const app = new SlimKoa();
  app.use(async (ctx) => {
    const exchange = createRequestContext(ctx);
    ctx.state = exchange;
    try {
      const found = await dispatch.handle(ctx, exchange.path);
      if (!found) writeResponse(ctx, 404, apiSecurityHeaders, null);
    } catch {
      // A figure could not be asked for: the next reading may have it.
      writeResponse(ctx, 503, apiSecurityHeaders, null);
    }
  });
  return app;
}

/** Translates between HTTP and `invoke`: finds the line, hands the request over, writes the answer, records. */
class HttpAdapter {
  readonly #options: AppOptions;
  readonly #requestLog: Logger;
  readonly #readBody: ReturnType<typeof jsonBodyReader>;
  readonly #servesDocs: boolean;
  readonly #dispatch: RequestRouter;
  readonly #gatewayPaths: RequestRouter;
  readonly #bodies: ByteBudget;

  constructor(options: AppOptions) {
    this.#options = options;
    // Its fields are fixed and hold no secret: looking for one in every line would cost as much as the line.
    this.#requestLog = options.log.child({}, { redact: [] });
    const { maxBodyBytes, maxBodyValues = defaultMaxBodyValues } = options.limits;
    this.#readBody = jsonBodyReader(maxBodyBytes, maxBodyValues);
    this.#bodies = options.bodies ?? new ByteBudget(defaultBodyByteLimits);
    const { planes = bothPlanes } = options;
    const routes = createRoutes(options.operations).filter(({ operation }) => isAnsweredOn(planes, operation));
    this.#servesDocs = planes.has('control');
    const open = [
      ...healthRoutes(options.version, options.readiness),
      ...(options.servesMetrics === false ? [] : [metricsRoute(options.metrics)]),
      ...(this.#servesDocs ? docsRoutes(openApiDocument(options.operations)) : []),
      ...(options.publicRoutes ?? []),
    ];
    const served = routes.map((route) => this.#operationLine(route));
    this.#dispatch = createRouter([...open.map((line) => this.#openLine(line)), ...served]);
    this.#gatewayPaths = createRouter(served.filter((_, index) => routes[index]?.operation.plane === 'gateway'));
  }

  /** Answers one request, whatever happens. */
  async answer(ctx: Context): Promise<void> {
    const exchange = createRequestContext(ctx);
    ctx.state = exchange;
    try {
      const found = await this.#dispatch.handle(ctx, exchange.path);
      if (!found) await this.#answerUnfound(exchange);
    } catch (error) {
      const { requestId, name: operation } = exchange;
      this.#refuse(exchange, failureOfError(error, { requestId, operation }, this.#options.log));
    } finally {
      exchange.body?.release();
    }
    this.#record(exchange);
  }

  #openLine(line: Route): Route {
    const handler: Route['handler'] = (ctx, parameters) => {
      (ctx.state as RequestContext).name = line.path;
      return line.handler(ctx, parameters);
    };
    return { ...line, handler };
  }

  #operationLine(route: OperationRoute): Route {
    const { operation, method } = route;
    const handler: Route['handler'] = (ctx, parameters) => {
      const exchange = ctx.state as RequestContext;
      exchange.name = operation.name;
      exchange.plane = operation.plane;
      exchange.onBothPlanes = operation.onBothPlanes === true;
      exchange.hasBody = route.hasBody;
      return this.#invoke(exchange, { kind: 'operation', route, parameters });
    };
    return { method, path: operation.http.path, handler };
  }

  async #invoke(exchange: RequestContext, target: CallTarget): Promise<void> {
    const { ctx, path, requestId } = exchange;
    const { method, headers } = ctx.req;
    const isCommand = target.kind === 'operation' && target.route.operation.kind === 'command';
    const { outcome, keyId, limitHeaders } = await this.#options.invoke({
      target,
      presentedKey: presentedKeyOf(headers),
      requestId,
      requestTarget: `${method} ${path}`,
      headers: requestHeadersOf(headers, isCommand),
      loadBody: (caller) => this.#loadBody(exchange, target, caller),
      openConnection: (caller, limitHeaders) => ({
        headers,
        body: new HttpBody(ctx),
        bodyHold: this.#holdBody(exchange, caller),
        response: new HttpResponse(ctx, limitHeaders),
      }),
    });
    exchange.keyId = keyId;
    exchange.limitFields = limitHeaders;
    if (E.isLeft(outcome)) return this.#refuse(exchange, outcome.left, target);
    if (outcome.right === null || target.kind === 'none') return;
    const { status, body } = outcome.right;
    const text = body === undefined ? null : await answerText(body);
    writeResponse(ctx, status, createResponseHeaders(exchange, target.route, outcome.right), text);
  }

  /** What a request's body holds counts for the project of its key until the request is answered. */
  #holdBody(exchange: RequestContext, { projectId }: Caller): ByteHold {
    const hold = this.#bodies.hold(projectId);
    exchange.body = hold;
    return hold;
  }

  async #loadBody(
    exchange: RequestContext,
    target: CallTarget,
    caller: Caller,
  ): Promise<E.Either<Failure, RequestInput>> {
    if (target.kind === 'none') return E.right({ fields: {}, bodyHash: hashOfNothing });
    const { route, parameters } = target;
    const { ctx, query } = exchange;
    if (!route.hasBody) {
      const fields = query === '' ? E.right({}) : readQueryParameters(query, route.members);
      if (E.isLeft(fields)) return fields;
      return E.right({ fields: { ...fields.right, ...parameters }, bodyHash: hashOf(noBytes, query) });
    }
    const body = await this.#readBody(ctx, this.#holdBody(exchange, caller));
    if (E.isLeft(body)) return body;
    const { members, bytes } = body.right;
    const fields = { ...known(members, route.members), ...parameters };
    return E.right({ fields, bodyHash: hashOf(bytes, query), bytes: bytes.length });
  }

  /** A browser that asks for `/` is sent to the documentation. */
  async #answerUnfound(exchange: RequestContext): Promise<void> {
    const { path, ctx } = exchange;
    if (path === '/' && this.#servesDocs && isBrowser(ctx)) return this.#sendToDocs(exchange);
    const allowedMethods = this.#dispatch.allowed(path);
    if (this.#gatewayPaths.allowed(path).length > 0) exchange.plane = 'gateway';
    exchange.onBothPlanes = allowedMethods.length === 0;
    await this.#invoke(exchange, { kind: 'none', method: ctx.req.method ?? '', allowedMethods });
  }

  #sendToDocs({ ctx }: RequestContext): void {
    const fields = [...apiSecurityHeaders, 'Cache-Control', 'no-cache', 'Vary', 'Accept', 'Location', docsPath];
    writeResponse(ctx, 303, fields, '');
  }

  #refuse(exchange: RequestContext, refusal: Failure, target: CallTarget | null = null): void {
    const answer = createErrorResponse(isTagUnknown(exchange, refusal) ? noSuchTag : refusal, exchange);
    const fields = [...apiSecurityHeaders, ...noStoreHeaders, ...exchange.limitFields];
    fields.push('Content-Type', answer.contentType);
    if (refusal.code === 'method-not-allowed' && target?.kind === 'none') {
      fields.push('Allow', target.allowedMethods.join(', '));
    }
    if (answer.status === 401) fields.push('WWW-Authenticate', challenge(refusal));
    if (answer.retryAfterSeconds !== null) fields.push('Retry-After', String(answer.retryAfterSeconds));
    writeResponse(exchange.ctx, answer.status, fields, JSON.stringify(answer.body));
  }

  #record({ ctx, name, keyId, requestId, started }: RequestContext): void {
    const milliseconds = performance.now() - started;
    const method = methodOf(ctx.req.method);
    const status = ctx.res.headersSent ? ctx.res.statusCode : clientGoneStatus;
    this.#options.metrics.request(name, method, status, milliseconds / 1_000);
    if (!this.#requestLog.isLevelEnabled('info')) return;
    this.#requestLog.info(
      { method, operation: name, status, ms: Math.round(milliseconds * 100) / 100, requestId, keyId },
      'request',
    );
  }
}

/** Whether a page is wanted: programs send no `text/html`. */
function isBrowser({ req: { method, headers } }: Context): boolean {
  return (method === 'GET' || method === 'HEAD') && /(?:^|[,\s])text\/html(?:[,;\s]|$)/i.test(headers.accept ?? '');
}

function isAnsweredOn(planes: ReadonlySet<Plane>, { plane, onBothPlanes = false }: AnyOperation): boolean {
  return planes.has(plane) || (onBothPlanes && planes.size > 0);
}

/** Values in a JSON body at most. */
export const defaultMaxBodyValues = 50_000;

const bothPlanes: ReadonlySet<Plane> = new Set(['control', 'gateway']);

/** What logs and metrics show where the client left before there was an answer. */
const clientGoneStatus = 499;

const noSuchTag = failure(
  'precondition-failed',
  'If-Match holds no ETag that this resource can have: send one as given, like "3".',
);

/** Whether a precondition failed because `If-Match` holds what is no ETag of ours. */
function isTagUnknown({ ctx }: RequestContext, { code }: Failure): boolean {
  return code === 'precondition-failed' && ifMatchOf(ctx.req.headers) === neverRevision;
}

function challenge(refusal: Failure): string {
  const error = refusal.code === 'key-invalid' ? ', error="invalid_token"' : '';
  return `Bearer realm="switchyard"${error}`;
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** A method as a label: what clients may make up must not grow the metrics. */
function methodOf(method: string | undefined): string {
  return method !== undefined && methods.has(method) ? method : 'other';
}

const noBytes = Buffer.alloc(0);
const hashOfNothing = hash('sha256', noBytes);

function hashOf(bytes: Buffer, query: string): string {
  if (query === '') return bytes.length === 0 ? hashOfNothing : hash('sha256', bytes);
  return hash('sha256', Buffer.concat([bytes, Buffer.from(`?${query}`)]));
}

/** Only the members that an input names: what else a body holds (`__proto__`, for one) never reaches a codec. */
function known(members: JsonObject, names: ReadonlySet<string>): JsonObject {
  const found: Record<string, Json | undefined> = {};
  for (const name of names) if (Object.hasOwn(members, name)) found[name] = members[name];
  return found;
}
