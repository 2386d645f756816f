import * as E from 'fp-ts/lib/Either.js';
import type { Context } from 'koa';
import type { PageSessions } from '#application/access/page-sessions.ts';
import { failureOfError } from '#application/operations/unexpected-error.ts';
import type { Caller } from '#domain/shared/access.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import type { Admission } from '#exchange/admission.ts';
import { type RequestContext, requestContextOf } from '#http/request/request-context.ts';
import { presentedKeyOf } from '#http/request/request-headers.ts';
import type { SessionCookie } from '#http/request/session-cookie.ts';
import { apiSecurityHeaders, noStoreHeaders, writeResponse } from '#http/response/response.ts';
import { writeFailure } from '#http/response/write-failure.ts';
import type { Route } from '#http/routes/router.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { UnknownKeys } from './unknown-keys.ts';

export interface PageSessionAccess {
  readonly sessions: Pick<PageSessions, 'open' | 'end'>;
  readonly cookie: SessionCookie;
  /** Finds the caller of a key; null for an unknown one. @throws UnavailableError */
  readonly authenticate: (presentedKey: string) => Promise<Caller | null>;
  readonly admission: Pick<Admission, 'enter' | 'slot'>;
  readonly logger: Logger;
}

const path = '/dashboard/session';
const headers = [...apiSecurityHeaders, ...noStoreHeaders];
const json = [...headers, 'Content-Type', 'application/json'];

/**
 * `POST`, with a key in a header, answers `{"isKept": true}` with a cookie; `{"isKept": false}` where no session is
 * possible, so that the page keeps the key in memory. `DELETE` ends the session.
 */
export function sessionRoutes(access: PageSessionAccess): ReadonlyArray<Route> {
  const unknownKeys = new UnknownKeys();
  return [
    { method: 'POST', path, handler: (ctx) => answered(ctx, access, () => signIn(ctx, access, unknownKeys)) },
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

async function signIn(ctx: Context, access: PageSessionAccess, unknownKeys: UnknownKeys): Promise<Failure | null> {
  const { sessions, cookie, authenticate } = access;
  const key = presentedKeyOf(ctx.req);
  if (key === null)
    return failure('key-required', 'Send the key that opens the session as Authorization: Bearer <key>.');
  const caller = await authenticate(key);
  if (caller === null) return unknownKeys.count(ctx.req.socket.remoteAddress ?? '') ?? keyInvalid;
  const refusal = await admit(requestContextOf(ctx), caller, access);
  if (refusal !== null) return refusal;
  const fields = [...json, ...requestContextOf(ctx).limitHeaders];
  if (!cookie.isFromPage(ctx.req)) {
    writeResponse(ctx, 200, fields, JSON.stringify({ isKept: false }));
    return null;
  }
  const token = await sessions.open(key);
  if (token === null) return keyInvalid;
  writeResponse(ctx, 200, [...fields, 'Set-Cookie', cookie.beginning(token)], JSON.stringify({ isKept: true }));
  return null;
}

const keyInvalid = failure('key-invalid', 'This key opens nothing here.');

/**
 * Admits a request as for a command: counts a request of the caller, and takes a place for its answer.
 * @returns why it is refused
 */
async function admit(
  context: RequestContext,
  caller: Caller,
  { admission }: PageSessionAccess,
): Promise<Failure | null> {
  context.keyId = caller.keyId;
  context.held.belongTo(caller.projectId);
  const { refusal, headers: limitHeaders } = await admission.enter(caller);
  context.limitHeaders = limitHeaders;
  if (refusal !== null) return refusal;
  const place = await admission.slot(context.held, 'command answer');
  return E.isLeft(place) ? place.left : null;
}

async function signOut(ctx: Context, { sessions, cookie }: PageSessionAccess): Promise<null> {
  const token = cookie.tokenOf(ctx.req);
  if (token !== null) await sessions.end(token);
  writeResponse(ctx, 204, [...headers, 'Set-Cookie', cookie.ending], null);
  return null;
}
