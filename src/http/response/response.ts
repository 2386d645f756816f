import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import type { OperationResult } from '#application/operations/operation-request.ts';
import type { OperationRoute } from '#application/operations/registry.ts';
import { isStrict } from '#application/operations/request-headers.ts';
import type { Client } from '#exchange/client.ts';
import type { Request } from '#exchange/request.ts';
import { runInTurn } from '#exchange/turns.ts';
import { hasBody, hasOwnArrivalLimits } from '#http/request/request-body.ts';
import { type RequestContext, requestContextOf } from '#http/request/request-context.ts';
import { isNamedIn } from '#http/request/request-headers.ts';
import { serviceOwner, workForAll } from '#shared/async/fair-queue.ts';
import { EncodedJson, isObject, type Json } from '#shared/json/json.ts';

/** Headers of every answer. It is data, not a page, and its address goes to no other site. */
const always = ['X-Content-Type-Options', 'nosniff', 'Referrer-Policy', 'no-referrer'];

/** Headers for answers that are not pages: nothing in them may run or be framed. */
export const apiSecurityHeaders = ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"];

/** Headers for answers that only the holder of a key may see. */
export const noStoreHeaders = ['Cache-Control', 'no-store'];

/** The service reads and drops an unread body up to this size, so that it can keep the connection. */
const discardedBytes = 64 * 1024;

/**
 * Above this size Node does not write strings faster than bytes. Of a string that waits for its client, Node holds a copy
 * that may be three times as large.
 */
const oneStringBytes = 16 * 1024;

/** The time during which the rest of an unread body is dropped, so that the client can read its answer. */
const lingerTimeoutMs = 1_000;

/**
 * Writes a response without Koa. Does nothing if the client has left.
 * @param fields alternating names and values
 * @param body null for no content
 */
export function writeResponse(
  ctx: Context,
  status: number,
  fields: ReadonlyArray<string>,
  body: string | Buffer | null,
) {
  const { req, res } = ctx;
  if (res.headersSent || res.destroyed) return;
  const length = body === null ? 0 : Buffer.byteLength(body);
  const lengthField = body === null ? [] : ['Content-Length', String(length)];
  const headers = [...always, 'X-Request-Id', requestContextOf(ctx).requestId, ...fields, ...lengthField];
  if (!req.complete && hasBody(ctx) && mustClose(ctx)) {
    res.writeHead(status, [...headers, 'Connection', 'close']);
    linger(ctx, body);
  } else {
    res.writeHead(status, headers);
    if (body === null) res.end();
    else if (length > oneStringBytes) res.end(typeof body === 'string' ? Buffer.from(body) : body);
    else if (typeof body === 'string' && length !== body.length) res.end(body);
    // Bytes and ASCII text are sent as Latin-1 in one string with the headers, which is faster for small answers.
    else res.end(body.toString('latin1'), 'latin1');
  }
  // Usually the socket has already taken everything.
  if (res.writableLength > 0) followAnswer(ctx);
}

/** Ends the answer if the client takes none of the bytes that wait for it. */
export function followAnswer(ctx: Context): void {
  const { openAnswers, held } = requestContextOf(ctx);
  openAnswers?.follow(ctx.res, held.owner === serviceOwner ? null : held.owner);
}

/**
 * Starts a body that follows in pieces.
 * @param fields alternating names and values
 * @returns false if the client has left
 */
export function startResponse(ctx: Context, status: number, fields: ReadonlyArray<string>): boolean {
  const { res } = ctx;
  if (res.headersSent || res.destroyed) return false;
  res.writeHead(status, [...always, 'X-Request-Id', requestContextOf(ctx).requestId, ...fields]);
  followAnswer(ctx);
  return true;
}

function mustClose(ctx: Context): boolean {
  // The server must not check its arrival any more.
  if (hasOwnArrivalLimits(ctx.req) || !ctx.res.shouldKeepAlive) return true;
  const length = Number(ctx.req.headers['content-length'] ?? Number.POSITIVE_INFINITY);
  return length > discardedBytes || ctx.req.headers.expect !== undefined;
}

/**
 * Sends the answer while the client still sends its body. Closing immediately would reset the connection and could take
 * the answer with it.
 */
function linger({ req, res }: Context, body: string | Buffer | null): void {
  const end = () => {
    clearTimeout(timer);
    res.end();
  };
  const timer = setTimeout(end, lingerTimeoutMs);
  req.once('end', end);
  res.once('close', () => clearTimeout(timer));
  if (body !== null) res.write(body);
  else res.flushHeaders();
  req.resume();
}

export class HttpResponse implements Client {
  readonly #ctx: Context;
  readonly #res: ServerResponse;
  #headers: ReadonlyArray<string> = [];
  #isDisconnected: boolean;
  #isOpen = false;
  #onDisconnect: (() => void) | null = null;
  #onDrained: (() => void) | null = null;

  constructor(ctx: Context) {
    this.#ctx = ctx;
    this.#res = ctx.res;
    this.#isDisconnected = ctx.res.destroyed;
  }

  /** Most operations do not write their answer themselves, so their requests need no listener. */
  #open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#isDisconnected ||= this.#res.destroyed;
    // Once: a kept connection keeps its last response, which must not keep the call.
    this.#res.once('close', this.#handleClose);
    // A streamed call has its own limits, and `OpenAnswers` ends one that is not read. The server's limits would end a
    // call that waits long for a model.
    this.#ctx.req.socket.setTimeout(0);
  }

  /**
   * True if the client has left: known from `addHeaders` on; before, only whether it had left when the request began.
   */
  get isDisconnected(): boolean {
    return this.#isDisconnected;
  }

  /** An operation that writes its answer itself begins with this. */
  addHeaders(headers: ReadonlyArray<string>): void {
    this.#open();
    this.#headers = this.#headers.length === 0 ? headers : [...this.#headers, ...headers];
  }

  send(status: number, headers: ReadonlyArray<string>, body: string | Buffer): void {
    writeResponse(this.#ctx, status, [...this.#headers, ...headers], body);
  }

  start(status: number, headers: ReadonlyArray<string>): void {
    if (this.#isDisconnected) return;
    startResponse(this.#ctx, status, [...this.#headers, ...headers]);
    if (this.#ctx.req.method === 'HEAD') this.#endHead();
  }

  write(bytes: Buffer | string): boolean {
    if (this.#isDisconnected || this.#res.write(bytes)) return true;
    requestContextOf(this.#ctx).openAnswers?.count(this.#res);
    return false;
  }

  onceDrained(listener: () => void): void {
    if (this.#onDrained === null) this.#res.on('drain', this.#handleDrain);
    this.#onDrained = listener;
  }

  end(): void {
    if (this.#isDisconnected) return;
    this.#res.end();
  }

  destroy(): void {
    this.#res.destroy();
  }

  onDisconnect(listener: (() => void) | null): void {
    this.#onDisconnect = listener;
    if (this.#isDisconnected) listener?.();
  }

  /** A client that asks only for the headers receives no body, so an endless one must end. */
  #endHead(): void {
    this.#res.end();
    this.#isDisconnected = true;
    this.#onDisconnect?.();
  }

  readonly #handleDrain = (): void => {
    requestContextOf(this.#ctx).openAnswers?.count(this.#res);
    const listener = this.#onDrained;
    this.#onDrained = ignore;
    listener?.();
  };

  readonly #handleClose = (): void => {
    if (this.#res.writableFinished) return;
    this.#isDisconnected = true;
    this.#onDisconnect?.();
  };
}

/** The headers as alternating names and values. */
export function createResponseHeaders(
  context: RequestContext,
  route: OperationRoute,
  parameters: Request['parameters'],
  answer: OperationResult,
): ReadonlyArray<string> {
  const fields = [...apiSecurityHeaders, ...noStoreHeaders, ...context.limitHeaders, ...context.ignoredHeaders];
  if (answer.body !== undefined) fields.push('Content-Type', 'application/json');
  if (answer.revision !== undefined) fields.push('ETag', `"${answer.revision}"`);
  if (appliesStrict(context, route)) fields.push('Preference-Applied', 'handling=strict');
  if (answer.isReplay === true) fields.push('Idempotency-Replayed', 'true');
  if (answer.position !== undefined) fields.push('Switchyard-Position', String(answer.position));
  if (answer.nextCursor !== undefined) fields.push('Link', `<${nextPage(context, answer.nextCursor)}>; rel="next"`);
  const location = locationOf(route, parameters, answer);
  if (location !== null) fields.push('Location', location);
  return fields;
}

/** True if the client has the answer according to its `If-None-Match`. */
export function isNotModified(
  { ctx }: RequestContext,
  { operation }: OperationRoute,
  answer: OperationResult,
): boolean {
  const header = ctx.req.headers['if-none-match'];
  if (header === undefined || operation.isConditional !== true || answer.revision === undefined) return false;
  return isNamedIn(header, `"${answer.revision}"`);
}

function nextPage({ path, query }: RequestContext, cursor: string): string {
  const next = new URLSearchParams(query);
  next.set('cursor', cursor);
  return `${path}?${next}`;
}

/**
 * True if strict handling applies. Uploads, like relayed calls, may have unknown parts whatever the request prefers.
 */
function appliesStrict({ ctx }: RequestContext, { operation }: OperationRoute): boolean {
  return (operation.kind === 'command' || operation.kind === 'query') && isStrict(ctx.req.headers);
}

/** The location; null if the request has created nothing. */
function locationOf(route: OperationRoute, parameters: Request['parameters'], answer: OperationResult): string | null {
  const { createdUnder, createdId, operation } = route;
  if (createdUnder === null || answer.status !== operation.http.status) return null;
  const id = idOf(answer, createdId);
  if (id === null) return null;
  return createdUnder.replace(/:(\w+)/g, (_, name: string) => String(parameters[name])) + id;
}

function idOf({ body }: OperationResult, member: string): string | null {
  const id = isObject(body) ? body[member] : null;
  return typeof id === 'string' ? id : null;
}

/** Large answers that are ready at the same time each get their own turn. */
export function answerText(body: Json | EncodedJson): string | Promise<string> {
  if (body instanceof EncodedJson) return body.text;
  // What a command has done is answered in any case.
  return runInTurn(
    workForAll(),
    'answer',
    () => JSON.stringify(body),
    ({ length }) => length,
  );
}

function ignore(): void {}
