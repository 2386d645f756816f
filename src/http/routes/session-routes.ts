import type { Context } from 'koa';
import type { PageSessions } from '#application/access/page-sessions.ts';
import { failureOfError } from '#application/operations/unexpected-error.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { presentedKeyOf } from '#http/request/request-headers.ts';
import type { SessionCookie } from '#http/request/session-cookie.ts';
import { apiSecurityHeaders, noStoreHeaders, writeResponse } from '#http/response/response.ts';
import { requestContextOf } from '#http/server/request-context.ts';
import type { Route } from '#http/server/router.ts';
import { writeFailure } from '#http/server/write-failure.ts';
import type { Logger } from '#shared/logging/logger.ts';

/** The sessions of the page, and the cookie that carries them. */
export interface PageSessionAccess {
  readonly sessions: Pick<PageSessions, 'open' | 'end'>;
  readonly cookie: SessionCookie;
  readonly logger: Logger;
}

/** The path at which the page signs in and out. */
const path = '/dashboard/session';
const headers = [...apiSecurityHeaders, ...noStoreHeaders];
const json = [...headers, 'Content-Type', 'application/json'];

/**
 * The routes of the page's session. `POST`, with a key in a header, answers `{"isKept": true}` with a cookie;
 * `{"isKept": false}` where no session is possible, so that the page keeps the key in memory. `DELETE` ends the session.
 */
export function sessionRoutes(access: PageSessionAccess): ReadonlyArray<Route> {
  return [
    { method: 'POST', path, handler: (ctx) => answered(ctx, access, () => signIn(ctx, access)) },
    { method: 'DELETE', path, handler: (ctx) => answered(ctx, access, () => signOut(ctx, access)) },
  ];
}

async function answered(
  ctx: Context,
  { logger }: PageSessionAccess,
  work: () => Promise<Failure | null>,
): Promise<void> {
  const context = requestContextOf(ctx);
  const refusal = await work().catch((error: unknown) =>
    failureOfError(error, { requestId: context.requestId, operation: path }, logger),
  );
  if (refusal !== null) writeFailure(context, refusal, []);
}

async function signIn(ctx: Context, { sessions, cookie }: PageSessionAccess): Promise<Failure | null> {
  const key = presentedKeyOf(ctx.req);
  if (key === null)
    return failure('key-required', 'Send the key that opens the session as Authorization: Bearer <key>.');
  if (!cookie.isFromPage(ctx.req)) {
    writeResponse(ctx, 200, json, JSON.stringify({ isKept: false }));
    return null;
  }
  const token = await sessions.open(key);
  if (token === null) return failure('key-invalid', 'This key opens nothing here.');
  writeResponse(ctx, 200, [...json, 'Set-Cookie', cookie.beginning(token)], JSON.stringify({ isKept: true }));
  return null;
}

async function signOut(ctx: Context, { sessions, cookie }: PageSessionAccess): Promise<null> {
  const token = cookie.tokenOf(ctx.req);
  if (token !== null) await sessions.end(token);
  writeResponse(ctx, 204, [...headers, 'Set-Cookie', cookie.ending], null);
  return null;
}
