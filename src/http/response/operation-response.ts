import type { OperationResult } from '#application/operations/operation-request.ts';
import type { OperationRoute } from '#application/operations/registry.ts';
import { isNamedIn } from '#http/request/if-none-match.ts';
import { isStrict } from '#http/request/prefer.ts';
import type { RequestContext } from '#http/server/request-context.ts';
import { isObject } from '#shared/json/json-value.ts';
import { apiSecurityHeaders, noStoreHeaders } from './response.ts';

/** Returns the headers of a success, names and values in turn. */
export function createResponseHeaders(
  context: RequestContext,
  route: OperationRoute,
  answer: OperationResult,
): ReadonlyArray<string> {
  const fields = [...apiSecurityHeaders, ...noStoreHeaders, ...context.limitFields];
  if (answer.body !== undefined) fields.push('Content-Type', 'application/json');
  if (answer.revision !== undefined) fields.push('ETag', `"${answer.revision}"`);
  if (isStrict(context.ctx.req.headers)) fields.push('Preference-Applied', 'handling=strict');
  if (answer.isReplay === true) fields.push('Idempotency-Replayed', 'true');
  if (answer.position !== undefined) fields.push('Switchyard-Position', String(answer.position));
  if (answer.nextCursor !== undefined) fields.push('Link', `<${nextPage(context, answer.nextCursor)}>; rel="next"`);
  const id = answer.status === 201 && route.createdUnder !== null ? idOf(answer, route.createdId) : null;
  if (id !== null) fields.push('Location', `${route.createdUnder}${id}`);
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

function idOf({ body }: OperationResult, member: string): string | null {
  const id = isObject(body) ? body[member] : null;
  return typeof id === 'string' ? id : null;
}
