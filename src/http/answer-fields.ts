import type { OperationResult } from '#operations/operation.ts';
import type { Route } from '#operations/routes.ts';
import type { JsonObject } from '#src/json.ts';
import { dataPolicy, notStored } from './answer.ts';
import type { Exchange } from './exchange.ts';

/** The headers of a success, names and values in turn. */
export function answerFields(exchange: Exchange, route: Route, answer: OperationResult): ReadonlyArray<string> {
  const fields = [...dataPolicy, ...notStored, ...exchange.limitFields];
  if (answer.body !== undefined) fields.push('Content-Type', 'application/json');
  if (answer.revision !== undefined) fields.push('ETag', `"${answer.revision}"`);
  if (answer.position !== undefined) fields.push('Switchyard-Position', String(answer.position));
  if (answer.nextCursor !== undefined) fields.push('Link', `<${nextPage(exchange, answer.nextCursor)}>; rel="next"`);
  const id = answer.status === 201 && route.createdUnder !== null ? idOf(answer, route.createdId) : null;
  if (id !== null) fields.push('Location', `${route.createdUnder}${id}`);
  return fields;
}

function nextPage({ path, query }: Exchange, cursor: string): string {
  const next = new URLSearchParams(query);
  next.set('cursor', cursor);
  return `${path}?${next}`;
}

function idOf({ body }: OperationResult, member: string): string | null {
  const id = typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as JsonObject)[member] : null;
  return typeof id === 'string' ? id : null;
}
