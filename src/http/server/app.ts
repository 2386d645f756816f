import * as E from 'fp-ts/lib/Either.js';
import type Koa from 'koa';
import type { Context } from 'koa';
import type { Logger as PinoLogger } from 'pino';
import { type Invoke, unservedRoute } from '#application/operations/invoke.ts';
import type { AnyOperation, Download, StreamingOperation, StreamReport } from '#application/operations/operation.ts';
import type { OperationResult } from '#application/operations/operation-request.ts';
import { maxPageBytes } from '#application/operations/paging.ts';
import { createRoutes, type OperationRoute } from '#application/operations/registry.ts';
import { failureOfError } from '#application/operations/unexpected-error.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { Admission } from '#exchange/admission.ts';
import type { RequestInput } from '#exchange/body.ts';
import { answersFull } from '#exchange/byte-budget.ts';
import type { TextStream } from '#exchange/client.ts';
import { ClientDisconnectedError } from '#exchange/held.ts';
import type { Plane } from '#exchange/problem.ts';
import type { Request } from '#exchange/request.ts';
import { docsPath, docsRoutes } from '#http/docs/docs-routes.ts';
import { connectionsFull, healthPaths, isWithoutPlace, takePlace } from '#http/request/connections.ts';
import {
  createRequestContext,
  type RequestContext,
  RequestLog,
  requestContextOf,
} from '#http/request/request-context.ts';
import { misplacedKeyFault, presentedKeyOf } from '#http/request/request-headers.ts';
import { HttpBody, OperationInputReader } from '#http/request/request-input.ts';
import type { SessionCookie } from '#http/request/session-cookie.ts';
import { writeDownload } from '#http/response/download-response.ts';
import { OpenAnswers } from '#http/response/open-answers.ts';
import {
  answerText,
  apiSecurityHeaders,
  createResponseHeaders,
  HttpResponse,
  isNotModified,
  writeResponse,
} from '#http/response/response.ts';
import { writeStream } from '#http/response/streamed-response.ts';
import { writeFailure } from '#http/response/write-failure.ts';
import { healthRoutes, metricsRoute, type Readiness } from '#http/routes/health.ts';
import type { Metrics } from '#http/routes/metrics.ts';
import { createFindOtherRole, type FindOtherRole } from '#http/routes/other-roles.ts';
import { createRouter, type RequestRouter, type Route } from '#http/routes/router.ts';
import {
  createFindWrongTurn,
  createFormOfPath,
  type FindWrongTurn,
  findGeminiPath,
  unservedPaths,
} from '#http/routes/wrong-turns.ts';
import { serviceOwner } from '#shared/async/fair-queue.ts';
import { SlimKoa } from './server.ts';

export interface RunningRequests {
  count: number;
}

export interface AppOptions {
  readonly operations: ReadonlyArray<AnyOperation>;
  readonly invoke: Invoke;
  readonly readiness: Readiness;
  /** The version that `/healthz` shows. */
  readonly version: string;
  readonly metrics: Metrics;
  readonly log: PinoLogger;
  readonly limits: {
    readonly maxBodyBytes: number;
    /** Maximum number of values in a JSON body. Default 50,000. */
    readonly maxBodyValues?: number;
  };
  /** Default: one with the usual limits. */
  readonly admission?: Admission;
  /** Counts running requests. Default: a new count. */
  readonly running?: RunningRequests;
  /** How long a client may stop reading. Default 60 s. */
  readonly maxUnreadMs?: number;
  /** The planes that the app serves. Documentation belongs to the control plane. Default both. */
  readonly planes?: ReadonlySet<Plane>;
  /** False if the metrics have their own port. Default true. */
  readonly servesMetrics?: boolean;
  /** Endpoints that are answered like operations. Their own protocol describes them, so OpenAPI does not list them. */
  readonly endpoints?: ReadonlyArray<StreamingOperation>;
  /** The cookie of a request that has no key. Default: a key is needed. */
  readonly sessionCookie?: SessionCookie | null;
  /** Routes that need no key. */
  readonly publicRoutes?: ReadonlyArray<Route>;
  /** Where `/` redirects a browser. Default the documentation. */
  readonly browserHome?: string;
}

/** @throws Error for a mistake in the operations (two on one path, a codec without a schema) */
export function createApp(options: AppOptions): Koa {
  const adapter = new HttpAdapter(options);
  const app = new SlimKoa();
  app.use((ctx) => adapter.answer(ctx));
  return app;
}

/** Creates an app with the metrics, for a separate port. */
export function createMetricsApp(metrics: Metrics): Koa {
  const dispatch = createRouter([metricsRoute(metrics)]);
  const app = new SlimKoa();
  app.use(async (ctx) => {
    const context = createRequestContext(ctx);
    ctx.state = context;
    try {
      const handled = dispatch.handle(ctx, context.path);
      if (handled === null) writeResponse(ctx, 404, apiSecurityHeaders, null);
      else await handled;
    } catch {
      // A figure was not available: the next reading may have it.
      writeResponse(ctx, 503, apiSecurityHeaders, null);
    }
  });
  return app;
}

/** Finds the route, passes the request to `invoke`, writes the answer, records it. */
class HttpAdapter {
  readonly #options: AppOptions;
  readonly #requestLog: RequestLog;
  readonly #inputs: OperationInputReader;
  readonly #servesDocs: boolean;
  readonly #router: RequestRouter;
  readonly #gatewayPaths: ReadonlySet<string>;
  readonly #openAnswers: OpenAnswers;
  readonly #admission: Admission;
  readonly #findOtherRole: FindOtherRole;
  readonly #findWrongTurn: FindWrongTurn;
  readonly #formOfPath: ReturnType<typeof createFormOfPath>;
  readonly #running: RunningRequests;

  constructor(options: AppOptions) {
    this.#options = options;
    this.#requestLog = new RequestLog(options.log, options.metrics);
    const { maxBodyBytes, maxBodyValues } = options.limits;
    this.#inputs = new OperationInputReader(maxBodyBytes, maxBodyValues);
    this.#admission = options.admission ?? new Admission();
    this.#openAnswers = new OpenAnswers(this.#admission.budgets.answer, options.maxUnreadMs);
    this.#running = options.running ?? { count: 0 };
    this.#findWrongTurn = createFindWrongTurn(options.operations);
    this.#formOfPath = createFormOfPath(options.operations);
    const { planes = bothPlanes } = options;
    this.#findOtherRole = createFindOtherRole(planes);
    const routes = createRoutes([...options.operations, ...(options.endpoints ?? [])]).filter(({ operation }) =>
      isAnsweredOn(planes, operation),
    );
    this.#servesDocs = planes.has('control');
    const open = [
      ...healthRoutes(options.version, options.readiness),
      ...(options.servesMetrics === false ? [] : [metricsRoute(options.metrics)]),
      ...(this.#servesDocs ? docsRoutes(options) : []),
      ...(options.publicRoutes ?? []),
    ];
    const operations = new Set<AnyOperation>(options.operations);
    const cookie = options.sessionCookie ?? null;
    // An endpoint with a protocol of its own is for programs, which have a key.
    const served = routes.map((route) => this.#operationRoute(route, operations.has(route.operation) ? cookie : null));
    this.#router = createRouter([...open.map((route) => this.#publicRoute(route)), ...served], unservedPaths);
    const ofGateway = routes.filter(({ operation }) => operation.plane === 'gateway');
    this.#gatewayPaths = new Set(ofGateway.map(({ operation }) => operation.http.path));
  }

  /** Answers a request. Never rejects. */
  async answer(ctx: Context): Promise<void> {
    const context = createRequestContext(ctx, this.#admission.budgets, this.#openAnswers);
    ctx.state = context;
    ctx.res.once('close', () => {
      if (!ctx.res.writableFinished) context.held.leave();
    });
    this.#running.count += 1;
    try {
      await context.held.run(() => this.#router.handle(ctx, context.path) ?? this.#answerUnfound(context));
    } catch (error) {
      if (!(error instanceof ClientDisconnectedError)) this.#refuse(context, this.#failureOf(context, error));
    } finally {
      context.held.release();
      this.#running.count -= 1;
    }
    this.#requestLog.record(context);
  }

  #publicRoute(route: Route): Route {
    const handler: Route['handler'] = (ctx, parameters) => {
      const context = requestContextOf(ctx);
      context.name = route.path;
      context.pathTemplate = route.path;
      if (isWithoutPlace(ctx.req) && !healthPaths.has(route.path) && !takePlace(ctx.req, serviceOwner))
        return Promise.resolve(this.#refuse(context, connectionsFull));
      return route.handler(ctx, parameters);
    };
    return { ...route, handler };
  }

  /** @param cookie null if the operation needs a key */
  #operationRoute(route: OperationRoute, cookie: SessionCookie | null): Route {
    const { operation, method } = route;
    const pathTemplate = operation.http.path.replace(/:(\w+)/g, '{$1}');
    const handler: Route['handler'] = (ctx, parameters) => {
      const context = requestContextOf(ctx);
      context.name = operation.name;
      context.pathTemplate = pathTemplate;
      context.plane = operation.plane;
      context.onBothPlanes = operation.onBothPlanes === true;
      context.hasBody = route.hasBody;
      if (operation.errorForm !== undefined) context.errorForm = operation.errorForm(ctx.req.headers);
      context.sessionCookie = cookie;
      return this.#invoke(context, E.right(route), parameters);
    };
    return { method, path: operation.http.path, handler };
  }

  async #invoke(
    context: RequestContext,
    route: E.Either<Failure, OperationRoute>,
    parameters: Request['parameters'],
  ): Promise<void> {
    const { ctx } = context;
    const presentedKey = presentedKeyOf(ctx.req);
    const { outcome, keyId, limitHeaders } = await this.#options.invoke(
      route,
      this.#requestOf(context, route, parameters),
      {
        presentedKey,
        sessionToken: presentedKey === null ? (context.sessionCookie?.tokenOf(ctx.req) ?? null) : null,
        keyFault: presentedKey === null ? misplacedKeyFault(ctx.req.headers) : null,
        takePlace: isWithoutPlace(ctx.req)
          ? ({ projectId }) => (takePlace(ctx.req, projectId) ? null : connectionsFull)
          : null,
      },
    );
    context.keyId = keyId;
    context.limitHeaders = limitHeaders;
    if (E.isLeft(outcome)) this.#refuse(context, outcome.left);
    else if (isReport(outcome.right)) context.relayed = outcome.right;
    else if (outcome.right !== null && E.isRight(route))
      await this.#writeResult(context, route.right, parameters, outcome.right);
  }

  async #writeResult(
    context: RequestContext,
    route: OperationRoute,
    parameters: Request['parameters'],
    result: OperationResult | Download,
  ): Promise<void> {
    const { ctx } = context;
    if ('kind' in result) return this.#download(context, result);
    const { status, body, stream } = result;
    if (stream !== undefined) {
      context.leavePlace?.();
      return this.#stream(context, stream);
    }
    const fields = createResponseHeaders(context, route, parameters, result);
    if (isNotModified(context, route, result)) return writeResponse(ctx, 304, fields, null);
    const text = body === undefined ? null : await answerText(body);
    // What a command has done is answered in any case.
    const isRefused = route.operation.kind === 'query' && !this.#admission.budgets.answer.hasRoomFor(text?.length ?? 0);
    if (isRefused) return this.#refuse(context, answersFull);
    writeResponse(ctx, status, fields, text);
  }

  #stream(context: RequestContext, stream: TextStream): Promise<void> {
    return writeStream(context, stream, (error) => this.#failureOf(context, error));
  }

  #failureOf({ requestId, name: operation }: RequestContext, error: unknown): Failure {
    return failureOfError(error, { requestId, operation }, this.#options.log);
  }

  async #download(context: RequestContext, download: Download): Promise<void> {
    const refusal = await writeDownload(context, download);
    if (refusal === null) return;
    if (refusal.code === 'range-not-satisfiable') {
      context.limitHeaders = [...context.limitHeaders, 'Content-Range', `bytes */${download.bytes}`];
    }
    this.#refuse(context, refusal);
  }

  #requestOf(
    context: RequestContext,
    route: E.Either<Failure, OperationRoute>,
    parameters: Request['parameters'],
  ): Request {
    const { ctx, requestId: id, started: startedAt, name: operation, path, query, held } = context;
    const { method, headers } = ctx.req;
    const client = new HttpResponse(ctx);
    const body = new HttpBody(ctx, async () =>
      E.isLeft(route) ? route : this.#readInput(context, route.right, parameters),
    );
    const target = `${method} ${path}`;
    return { id, startedAt, operation, target, parameters, query, headers, body, maxPageBytes, client, held };
  }

  /** Reads the input, and takes a place for the answer until it is written. */
  async #readInput(
    context: RequestContext,
    route: OperationRoute,
    parameters: Request['parameters'],
  ): Promise<E.Either<Failure, RequestInput>> {
    const input = await this.#inputs.read(context, route, parameters);
    const { kind } = route.operation;
    if (E.isLeft(input) || (kind !== 'query' && kind !== 'command')) return input;
    // After the body, so that a client that sends it slowly has no place.
    const place = await this.#admission.slot(context.held, `${kind} answer`);
    if (E.isLeft(place)) return place;
    context.leavePlace = place.right;
    return input;
  }

  /** Redirects a browser that asks for `/` to a page. */
  async #answerUnfound(context: RequestContext): Promise<void> {
    const { path, ctx } = context;
    if (path === '/' && this.#servesDocs && isBrowser(ctx)) return this.#sendHome(context);
    const { methods: allowedMethods, routes } = this.#router.accepted(path);
    if (routes.some((route) => this.#gatewayPaths.has(route))) context.plane = 'gateway';
    const isUnknown = allowedMethods.length === 0;
    context.onBothPlanes = isUnknown;
    const other = isUnknown && !unservedPaths.has(path) ? this.#findOtherRole(path) : null;
    const failure = findGeminiPath(path) ?? other?.failure ?? (isUnknown ? this.#findWrongTurn(path) : null);
    if (failure?.code === 'unsupported-endpoint' || other?.plane === 'gateway') context.plane = 'gateway';
    if (context.plane === 'gateway') context.errorForm = this.#formOfPath(path);
    await this.#invoke(context, E.left(failure ?? unservedRoute(ctx.req.method ?? '', allowedMethods)), {});
  }

  #sendHome({ ctx }: RequestContext): void {
    const { browserHome = docsPath } = this.#options;
    const fields = [...apiSecurityHeaders, 'Cache-Control', 'no-cache', 'Vary', 'Accept', 'Location', browserHome];
    writeResponse(ctx, 303, fields, '');
  }

  #refuse(context: RequestContext, refusal: Failure): void {
    const isMethodUnknown = refusal.code === 'method-not-allowed';
    writeFailure(context, refusal, isMethodUnknown ? this.#router.accepted(context.path).methods : []);
  }
}

/** True for a browser. Programs do not send `text/html`. */
function isBrowser({ req: { method, headers } }: Context): boolean {
  return (method === 'GET' || method === 'HEAD') && /(?:^|[,\s])text\/html(?:[,;\s]|$)/i.test(headers.accept ?? '');
}

/** True if the operation has written its answer itself. */
function isReport(result: OperationResult | Download | StreamReport | null): result is StreamReport {
  return result !== null && 'kind' in result && result.kind === 'relayed';
}

function isAnsweredOn(planes: ReadonlySet<Plane>, { plane, onBothPlanes = false }: AnyOperation): boolean {
  return planes.has(plane) || (onBothPlanes && planes.size > 0);
}

const bothPlanes: ReadonlySet<Plane> = new Set(['control', 'gateway']);
