import { hash } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import type Koa from 'koa';
import type { Context } from 'koa';
import type { Logger } from 'pino';
import { defaultLimitFactors, type LimitFactors } from '#application/access/limit-levels.ts';
import { RateLimit } from '#application/access/rate-limit.ts';
import { defaultBodyByteLimits } from '#application/bodies/body-failures.ts';
import { ClientDisconnectedError } from '#application/operations/client-disconnected-error.ts';
import { isCuid } from '#domain/codecs.ts';
import { type Failure, failure } from '#domain/failure.ts';
import type { Caller } from '#domain/tenancy.ts';
import { UnreadableEventError } from '#event-store/unreadable-event-error.ts';
import { dataPolicy, notStored, writeAnswer } from '#http/answer.ts';
import { answerFields } from '#http/answer-fields.ts';
import { answerText } from '#http/answer-text.ts';
import { type Dispatch, dispatchOf, type Line } from '#http/dispatch.ts';
import { docsLines, docsPath } from '#http/docs.ts';
import { type Exchange, exchangeOf } from '#http/exchange.ts';
import { healthLines, metricsLine, type Readiness } from '#http/health.ts';
import type { Metrics } from '#http/metrics.ts';
import { errorAnswer } from '#http/problem.ts';
import { queryFields } from '#http/query-fields.ts';
import { HttpBody } from '#http/request/http-body.ts';
import { jsonBodyReader } from '#http/request-body.ts';
import { idempotencyKeyOf, ifMatchOf, minPositionOf, neverRevision, presentedKeyOf } from '#http/request-headers.ts';
import { HttpResponse } from '#http/response/http-response.ts';
import { SlimKoa } from '#http/slim-koa.ts';
import { openApiDocument } from '#operations/openapi.ts';
import type {
  AnyOperation,
  Operation,
  OperationRequest,
  OperationResult,
  Plane,
  RelayOperation,
  RequestInput,
} from '#operations/operation.ts';
import { type Route, routesOf } from '#operations/routes.ts';
import { scopeRefusal } from '#operations/scope-refusal.ts';
import type { KeyUse } from '#src/access/key-resolver.ts';
import { ByteBudget, type ByteHold } from '#src/byte-budget.ts';
import { diskFull, isDiskFull } from '#src/disk-full.ts';
import type { Json, JsonObject } from '#src/json.ts';
import { Unavailable } from '#src/unavailable.ts';

/** What the HTTP face stands on. */
export interface AppOptions {
  readonly operations: ReadonlyArray<AnyOperation>;
  /** Who holds a presented key; null for a key that is not valid. */
  readonly authenticate: (presentedKey: string, use: KeyUse) => Promise<Caller | null>;
  readonly readiness: Readiness;
  /** As `/healthz` tells it. */
  readonly version: string;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly limits: {
    readonly maxBodyBytes: number;
    /** Values in a JSON body at most. Default 50,000. */
    readonly maxBodyValues?: number;
    /** Requests of one project in a minute at most, on this node; null for no limit. Default null. */
    readonly requestsPerMinute?: number | null;
    /** How many times as many its organization and its partner have. Default 10. */
    readonly limitFactors?: LimitFactors;
  };
  /** Counts the bytes that bodies hold. Default one of its own with the default limits. */
  readonly bodies?: ByteBudget;
  /** The planes whose operations are answered here; documentation goes with the control plane. Default both. */
  readonly planes?: ReadonlySet<Plane>;
  /** Whether `/metrics` is answered here; false when it has a port of its own. Default true. */
  readonly servesMetrics?: boolean;
  /** Further paths that need no key. */
  readonly publicLines?: ReadonlyArray<Line>;
}

/**
 * The Koa app: operations by their HTTP lines, documentation, health and metrics.
 * @throws Error for a mistake in the operations (two on one path, a codec without a schema)
 */
export function createApp(options: AppOptions): Koa {
  const face = new HttpAdapter(options);
  const app = new SlimKoa();
  app.use((ctx) => face.answer(ctx));
  return app;
}

/** An app that answers `/metrics` alone, for a port of its own. */
export function createMetricsApp(metrics: Metrics): Koa {
  const dispatch = dispatchOf([metricsLine(metrics)]);
  const app = new SlimKoa();
  app.use(async (ctx) => {
    const exchange = exchangeOf(ctx);
    ctx.state = exchange;
    try {
      const found = await dispatch.handle(ctx, exchange.path);
      if (!found) writeAnswer(ctx, 404, dataPolicy, null);
    } catch {
      // A figure could not be asked for: the next reading may have it.
      writeAnswer(ctx, 503, dataPolicy, null);
    }
  });
  return app;
}

/** Answers requests: finds the line, refuses in order, executes, writes, records. */
class HttpAdapter {
  readonly #options: AppOptions;
  readonly #requestLog: Logger;
  readonly #readBody: ReturnType<typeof jsonBodyReader>;
  readonly #servesDocs: boolean;
  readonly #dispatch: Dispatch;
  readonly #gatewayPaths: Dispatch;
  readonly #rateLimit: RateLimit | null;
  readonly #bodies: ByteBudget;

  constructor(options: AppOptions) {
    this.#options = options;
    // Its fields are fixed and hold no secret: looking for one in every line would cost as much as the line.
    this.#requestLog = options.log.child({}, { redact: [] });
    const { maxBodyBytes, maxBodyValues = defaultMaxBodyValues } = options.limits;
    this.#readBody = jsonBodyReader(maxBodyBytes, maxBodyValues);
    this.#bodies = options.bodies ?? new ByteBudget(defaultBodyByteLimits);
    const { requestsPerMinute = null, limitFactors = defaultLimitFactors } = options.limits;
    this.#rateLimit = requestsPerMinute === null ? null : new RateLimit(requestsPerMinute, limitFactors);
    const { planes = bothPlanes } = options;
    const routes = routesOf(options.operations).filter(({ operation }) => isAnsweredOn(planes, operation));
    this.#servesDocs = planes.has('control');
    const open = [
      ...healthLines(options.version, options.readiness),
      ...(options.servesMetrics === false ? [] : [metricsLine(options.metrics)]),
      ...(this.#servesDocs ? docsLines(openApiDocument(options.operations)) : []),
      ...(options.publicLines ?? []),
    ];
    const served = routes.map((route) => this.#operationLine(route));
    this.#dispatch = dispatchOf([...open.map((line) => this.#openLine(line)), ...served]);
    this.#gatewayPaths = dispatchOf(served.filter((_, index) => routes[index]?.operation.plane === 'gateway'));
  }

  /** Answers one request, whatever happens. */
  async answer(ctx: Context): Promise<void> {
    const exchange = exchangeOf(ctx);
    ctx.state = exchange;
    try {
      const found = await this.#dispatch.handle(ctx, exchange.path);
      if (!found) await this.#answerUnfound(exchange);
    } catch (error) {
      this.#answerError(exchange, error);
    } finally {
      exchange.body?.release();
    }
    this.#record(exchange);
  }

  #openLine(line: Line): Line {
    const handler: Line['handler'] = (ctx, parameters) => {
      (ctx.state as Exchange).name = line.path;
      return line.handler(ctx, parameters);
    };
    return { ...line, handler };
  }

  #operationLine(route: Route): Line {
    const { operation, method } = route;
    const handler: Line['handler'] = (ctx, parameters) => {
      const exchange = ctx.state as Exchange;
      exchange.name = operation.name;
      exchange.plane = operation.plane;
      exchange.onBothPlanes = operation.onBothPlanes === true;
      exchange.hasBody = route.hasBody;
      return operation.kind === 'relay'
        ? this.#answerRelay(exchange, operation, parameters)
        : this.#answerOperation(exchange, route, operation, parameters);
    };
    return { method, path: operation.http.path, handler };
  }

  /** The operation writes the answer itself, once the key is good. */
  async #answerRelay(exchange: Exchange, { scope, relay }: RelayOperation, parameters: Parameters): Promise<void> {
    const caller = await this.#callerOf(exchange, 'relay');
    if ('code' in caller) return this.#refuse(exchange, caller);
    const refusal = scopeRefusal(caller, scope);
    if (refusal !== null) return this.#refuse(exchange, refusal);
    const { ctx, limitFields } = exchange;
    await relay({
      headers: ctx.req.headers,
      body: new HttpBody(ctx),
      bodyHold: this.#holdBody(exchange, caller),
      response: new HttpResponse(ctx, limitFields),
      parameters,
      caller,
    });
  }

  async #answerOperation(
    exchange: Exchange,
    route: Route,
    operation: Operation,
    parameters: Parameters,
  ): Promise<void> {
    const caller = await this.#callerOf(exchange, operation.kind);
    if ('code' in caller) return this.#refuse(exchange, caller);
    for (const name of route.idParameters) {
      if (!isCuid(parameters[name] ?? '')) return this.#refuse(exchange, noSuchId(route, parameters[name] ?? ''));
    }
    const { request, faultyHeader } = this.#requestOf(exchange, route, parameters, caller);
    const outcome = await this.#execute(operation, request);
    if (E.isLeft(outcome)) return this.#refuse(exchange, outcome.left, request);
    // A query that had no input to read has not met its headers yet.
    if (faultyHeader !== null) return this.#refuse(exchange, faultyHeader);
    const { status, body } = outcome.right;
    const text = body === undefined ? null : await answerText(body);
    writeAnswer(exchange.ctx, status, answerFields(exchange, route, outcome.right), text);
  }

  /** Who asks, unless the key is not good, or its project has asked too often. */
  async #callerOf(exchange: Exchange, use: KeyUse): Promise<Caller | Failure> {
    const key = presentedKeyOf(exchange.ctx.req.headers);
    if (key === null) return keyRequired;
    const caller = await this.#options.authenticate(key, use);
    if (caller === null) return keyInvalid;
    exchange.keyId = caller.keyId;
    if (this.#rateLimit === null) return caller;
    const { headers, refusal } = await this.#rateLimit.take(caller);
    exchange.limitFields = headers;
    return refusal ?? caller;
  }

  #requestOf(exchange: Exchange, route: Route, parameters: Parameters, caller: Caller): Understood {
    const { headers } = exchange.ctx.req;
    const isCommand = route.operation.kind === 'command';
    const idempotencyKey = isCommand ? idempotencyKeyOf(headers) : null;
    const minPosition = minPositionOf(headers);
    const faultyHeader = [idempotencyKey, minPosition].find(isFailure) ?? null;
    const request: OperationRequest = {
      caller,
      requestId: exchange.requestId,
      parameters,
      requestTarget: `${route.method} ${exchange.path}`,
      ifMatch: isCommand ? ifMatchOf(headers) : null,
      idempotencyKey: isFailure(idempotencyKey) ? null : idempotencyKey,
      minPosition: isFailure(minPosition) ? null : minPosition,
      loadBody: async () =>
        faultyHeader === null ? this.#readInput(exchange, route, parameters, caller) : E.left(faultyHeader),
    };
    return { request, faultyHeader };
  }

  /** What a request's body holds counts for the project of its key until the request is answered. */
  #holdBody(exchange: Exchange, { projectId }: Caller): ByteHold {
    const hold = this.#bodies.hold(projectId);
    exchange.body = hold;
    return hold;
  }

  async #readInput(
    exchange: Exchange,
    route: Route,
    parameters: Parameters,
    caller: Caller,
  ): Promise<E.Either<Failure, RequestInput>> {
    const { ctx, query } = exchange;
    if (!route.hasBody) {
      const fields = query === '' ? E.right({}) : queryFields(query, route.members);
      if (E.isLeft(fields)) return fields;
      return E.right({ fields: { ...fields.right, ...parameters }, bodyHash: hashOf(noBytes, query) });
    }
    const body = await this.#readBody(ctx, this.#holdBody(exchange, caller));
    if (E.isLeft(body)) return body;
    const { members, bytes } = body.right;
    const fields = { ...known(members, route.members), ...parameters };
    return E.right({ fields, bodyHash: hashOf(bytes, query), bytes: bytes.length });
  }

  async #execute(operation: Operation, request: OperationRequest): Promise<E.Either<Failure, OperationResult>> {
    if (operation.kind === 'query') return operation.execute(request);
    const started = performance.now();
    try {
      return await operation.execute(request);
    } finally {
      this.#options.metrics.command(operation.name, (performance.now() - started) / 1_000);
    }
  }

  /**
   * 401 comes before 404 and 405, so that nobody without a key learns which paths there are. A browser that asks for `/`
   * is sent to the documentation.
   */
  async #answerUnfound(exchange: Exchange): Promise<void> {
    const { path, ctx } = exchange;
    if (path === '/' && this.#servesDocs && isBrowser(ctx)) return this.#sendToDocs(exchange);
    const allowed = this.#dispatch.allowed(path);
    if (this.#gatewayPaths.allowed(path).length > 0) exchange.plane = 'gateway';
    exchange.onBothPlanes = allowed.length === 0;
    const caller = await this.#callerOf(exchange, 'query');
    if ('code' in caller) return this.#refuse(exchange, caller);
    if (allowed.length === 0)
      return this.#refuse(exchange, failure('path-not-found', 'There is nothing at this path.'));
    const detail = `This path takes ${allowed.join(', ')}, not ${ctx.req.method}.`;
    this.#refuse(exchange, failure('method-not-allowed', detail), null, ['Allow', allowed.join(', ')]);
  }

  #sendToDocs({ ctx }: Exchange): void {
    const fields = [...dataPolicy, 'Cache-Control', 'no-cache', 'Vary', 'Accept', 'Location', docsPath];
    writeAnswer(ctx, 303, fields, '');
  }

  #refuse(
    exchange: Exchange,
    refusal: Failure,
    request: OperationRequest | null = null,
    more: ReadonlyArray<string> = [],
  ): void {
    const unmatchable = refusal.code === 'precondition-failed' && request?.ifMatch === neverRevision;
    const answer = errorAnswer(unmatchable ? noSuchTag : refusal, exchange);
    const fields = [...dataPolicy, ...notStored, ...exchange.limitFields, ...more];
    fields.push('Content-Type', answer.contentType);
    if (answer.status === 401) fields.push('WWW-Authenticate', challenge(refusal));
    if (answer.retryAfterSeconds !== null) fields.push('Retry-After', String(answer.retryAfterSeconds));
    writeAnswer(exchange.ctx, answer.status, fields, JSON.stringify(answer.body));
  }

  #answerError(exchange: Exchange, error: unknown): void {
    if (error instanceof ClientDisconnectedError) return;
    const { requestId, name } = exchange;
    if (isDiskFull(error)) {
      this.#options.log.warn({ requestId, operation: name, reason: String(error) }, 'the disk is full');
      this.#refuse(exchange, diskFull);
      return;
    }
    if (error instanceof Unavailable) {
      const { message, retryAfterSeconds } = error;
      this.#options.log.warn({ requestId, operation: name, reason: message }, 'unavailable');
      this.#refuse(exchange, failure('unavailable', `${message} Try again later.`, { retryAfterSeconds }));
      return;
    }
    if (error instanceof UnreadableEventError) {
      this.#options.log.error({ requestId, operation: name, reason: error.message }, 'unreadable event');
      this.#refuse(exchange, streamUnreadable(error));
      return;
    }
    this.#options.log.error({ requestId, operation: name, err: error }, 'internal error');
    this.#refuse(exchange, failure('internal-error', `Tell the operator the request id ${requestId}.`));
  }

  #record({ ctx, name, keyId, requestId, started }: Exchange): void {
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

type Parameters = Readonly<Record<string, string>>;

/** A request for an operation, and the first of its headers that cannot be taken. */
interface Understood {
  readonly request: OperationRequest;
  readonly faultyHeader: Failure | null;
}

/** What logs and metrics show where the client left before there was an answer. */
const clientGoneStatus = 499;

/** An unreadable event takes another release, so there is no hurry to ask again. */
const unreadableRetrySeconds = 60;

const keyRequired = failure(
  'key-required',
  'Send an API key: Authorization: Bearer <key>, or x-api-key: <key> (not two different ones).',
);
const keyInvalid = failure('key-invalid', 'The API key is unknown, revoked or replaced. Use a current one.');
const noSuchTag = failure(
  'precondition-failed',
  'If-Match holds no ETag that this resource can have: send one as given, like "3".',
);

/** A newer release may read it: until then the stream is not to be written to. */
function streamUnreadable({ message }: UnreadableEventError): Failure {
  const detail = `${message} Nothing was changed. Tell the operator.`;
  return failure('stream-unreadable', detail, { retryAfterSeconds: unreadableRetrySeconds });
}

function challenge(refusal: Failure): string {
  const error = refusal.code === 'key-invalid' ? ', error="invalid_token"' : '';
  return `Bearer realm="switchyard"${error}`;
}

function noSuchId(route: Route, id: string): Failure {
  return failure(route.notFound, `${JSON.stringify(id.slice(0, 100))} is no id of anything that this key reaches.`);
}

function isFailure(value: string | number | Failure | null): value is Failure {
  return typeof value === 'object' && value !== null;
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
