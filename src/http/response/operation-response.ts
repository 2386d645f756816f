import type { OperationResult } from '#application/operations/operation.ts';
import type { OperationRoute } from '#application/operations/registry.ts';
import type { RequestContext } from '#http/server/request-context.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { apiSecurityHeaders, noStoreHeaders } from './response.ts';

/** The headers of a success, names and values in turn. */
export function createResponseHeaders(
  exchange: RequestContext,
  route: OperationRoute,
  answer: OperationResult,
): ReadonlyArray<string> {
  const fields = [...apiSecurityHeaders, ...noStoreHeaders, ...exchange.limitFields];
  if (answer.body !== undefined) fields.push('Content-Type', 'application/json');
  if (answer.revision !== undefined) fields.push('ETag', `"${answer.revision}"`);
  if (answer.position !== undefined) fields.push('Switchyard-Position', String(answer.position));
  if (answer.nextCursor !== undefined) fields.push('Link', `<${nextPage(exchange, answer.nextCursor)}>; rel="next"`);
  const id = answer.status === 201 && route.createdUnder !== null ? idOf(answer, route.createdId) : null;
  if (id !== null) fields.push('Location', `${route.createdUnder}${id}`);
  return fields;
}

function nextPage({ path, query }: RequestContext, cursor: string): string {
  const next = new URLSearchParams(query);
  next.set('cursor', cursor);
  return `${path}?${next}`;
}

function idOf({ body }: OperationResult, member: string): string | null {
  const id = typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as JsonObject)[member] : null;
  return typeof id === 'string' ? id : null;
}
