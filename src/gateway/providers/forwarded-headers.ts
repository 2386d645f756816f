import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Client headers that every provider gets unchanged, because they concern only one request. */
const unchanged = ['openai-beta', 'traceparent', 'tracestate'];

const none: ReadonlyArray<string> = [];

/**
 * The headers of a client's request that its providers get.
 *
 * All tenants share the operator's key. If two tenants chose the same `Idempotency-Key`, a provider would give one the
 * answer of the other, so the value is made unique to the project.
 * @param projectId the project of the caller's key
 * @returns names and values in turn
 */
export function forwardedHeaders(headers: IncomingHttpHeaders, projectId: string): ReadonlyArray<string> {
  let forwarded: string[] | null = null;
  for (const name of unchanged) {
    const value = headers[name];
    if (typeof value !== 'string') continue;
    forwarded ??= [];
    forwarded.push(name, value);
  }
  const idempotencyKey = headers['idempotency-key'];
  // An empty value is left out: its hash would be the same for all requests of a project.
  if (typeof idempotencyKey !== 'string' || idempotencyKey === '') return forwarded ?? none;
  return [...(forwarded ?? none), 'idempotency-key', keyOfProject(projectId, idempotencyKey)];
}

/** SHA-256, in hex, of the project's id, a line feed and the unchanged bytes of the client's value. */
function keyOfProject(projectId: string, value: string): string {
  return hash('sha256', Buffer.from(`${projectId}\n${value}`, 'latin1'));
}
