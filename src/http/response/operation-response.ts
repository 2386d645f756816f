import type { CallTarget } from '#application/operations/invoke.ts';
import type { OperationResult } from '#application/operations/operation-request.ts';
import type { OperationRoute } from '#application/operations/registry.ts';
import { isNamedIn, isStrict } from '#http/request/request-headers.ts';
import type { RequestContext } from '#http/server/request-context.ts';
import { isObject } from '#shared/json/json-value.ts';
import { apiSecurityHeaders, noStoreHeaders } from './response.ts';

type OperationTarget = Extract<CallTarget, { readonly kind: 'operation' }>;

/** Returns the headers of a success, names and values in turn. */
export function createResponseHeaders(
  context: RequestContext,
  target: OperationTarget,
  answer: OperationResult,
): ReadonlyArray<string> {
  const fields = [...apiSecurityHeaders, ...noStoreHeaders, ...context.limitFields];
  if (answer.body !== undefined) fields.push('Content-Type', 'application/json');
  if (answer.revision !== undefined) fields.push('ETag', `"${answer.revision}"`);
  if (appliesStrict(context, target)) fields.push('Preference-Applied', 'handling=strict');
  if (answer.isReplay === true) fields.push('Idempotency-Replayed', 'true');
  if (answer.position !== undefined) fields.push('Switchyard-Position', String(answer.position));
  if (answer.nextCursor !== undefined) fields.push('Link', `<${nextPage(context, answer.nextCursor)}>; rel="next"`);
  const location = locationOf(target, answer);
  if (location !== null) fields.push('Location', location);
  return fields;
}

/** Returns whether the client has this answer, according to its `If-None-Match`. */
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

/** Uploads, like relayed calls, may have unknown parts whatever the request prefers. */
function appliesStrict({ ctx }: RequestContext, { route: { operation } }: OperationTarget): boolean {
  return (operation.kind === 'command' || operation.kind === 'query') && isStrict(ctx.req.headers);
}

/** Returns the path of the resource that a request has created; null if it has created none. */
function locationOf({ route, parameters }: OperationTarget, answer: OperationResult): string | null {
  const id = answer.status === route.operation.http.status ? idOf(answer, route.createdId) : null;
  if (id === null || route.createdUnder === null) return null;
  return route.createdUnder.replace(/:(\w+)/g, (_, name: string) => String(parameters[name])) + id;
}

function idOf({ body }: OperationResult, member: string): string | null {
  const id = isObject(body) ? body[member] : null;
  return typeof id === 'string' ? id : null;
}
