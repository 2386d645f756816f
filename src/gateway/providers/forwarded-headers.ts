import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Headers of a client that every provider gets unchanged: they matter to one request alone. */
const unchanged = ['openai-beta', 'traceparent', 'tracestate'];

const none: ReadonlyArray<string> = [];

/**
 * The headers of a client's request that its providers get.
 *
 * All tenants share the operator's one key, so a provider that honours `Idempotency-Key` would give one tenant the
 * answer of another that chose the same value: each project gets a value space of its own.
 * @param projectId the project of the key that asks
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
  // An empty value names no request: hashed, it would make one of all of a project's.
  if (typeof idempotencyKey !== 'string' || idempotencyKey === '') return forwarded ?? none;
  return [...(forwarded ?? none), 'idempotency-key', keyOfProject(projectId, idempotencyKey)];
}

/** SHA-256, in hex, of the project's id, a line feed and the client's value, byte by byte as it came. */
function keyOfProject(projectId: string, value: string): string {
  return hash('sha256', Buffer.from(`${projectId}\n${value}`, 'latin1'));
}
