import type { Context } from 'koa';
import { hasOwnArrivalLimits } from '#http/request/receive-body.ts';
import { hasBody } from '#http/request/request-body.ts';
import { requestContextOf } from '#http/server/request-context.ts';

/** What every answer carries, besides the request's id: it is data, not a page, and says to no other site where it was read. */
const always = ['X-Content-Type-Options', 'nosniff', 'Referrer-Policy', 'no-referrer'];

/** For answers that are no page: nothing in them may run or be framed. */
export const apiSecurityHeaders = ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"];

/** For what only the holder of a key may see. */
export const noStoreHeaders = ['Cache-Control', 'no-store'];

/** An unread body up to this size is read and thrown away so that the connection can be kept. */
const discardedBytes = 64 * 1024;

/** Node writes larger strings no faster than bytes. */
const oneStringBytes = 16 * 1024;

/** How long the rest of an unread body is thrown away, so that the client gets to read its answer. */
const lingerTimeoutMs = 1_000;

/**
 * Writes a whole answer straight to the response, past Koa's own writing. Does nothing when the client has gone.
 * @param fields header names and values in turn
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
  const headers = [...always, 'X-Request-Id', requestContextOf(ctx).requestId, ...fields];
  const length = body === null ? 0 : Buffer.byteLength(body);
  if (body !== null) headers.push('Content-Length', String(length));
  if (!req.complete && hasBody(ctx) && mustClose(ctx)) {
    headers.push('Connection', 'close');
    res.writeHead(status, headers);
    linger(ctx, body);
    return;
  }
  res.writeHead(status, headers);
  if (body === null) res.end();
  else if (typeof body === 'string' && length !== body.length) res.end(body);
  // Bytes, and text that is ASCII alone, go out as Latin-1 in one string with the headers, which is faster up to a size.
  else if (length <= oneStringBytes) res.end(body.toString('latin1'), 'latin1');
  else res.end(body);
}

/**
 * Writes the head of a response whose body follows in pieces. @param fields header names and values in turn
 * @returns false when there is no one to answer
 */
export function startResponse(ctx: Context, status: number, fields: ReadonlyArray<string>): boolean {
  const { res } = ctx;
  if (res.headersSent || res.destroyed) return false;
  res.writeHead(status, [...always, 'X-Request-Id', requestContextOf(ctx).requestId, ...fields]);
  return true;
}

function mustClose(ctx: Context): boolean {
  // The server may not look at its arrival any more.
  if (hasOwnArrivalLimits(ctx.req)) return true;
  const length = Number(ctx.req.headers['content-length'] ?? Number.POSITIVE_INFINITY);
  return length > discardedBytes || ctx.req.headers.expect !== undefined;
}

/**
 * Sends the answer while the client still sends its body. Closing at once would reset the connection and could take
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
