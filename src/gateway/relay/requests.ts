import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { ModelTarget } from '#gateway/config/catalogue.ts';
import type { Provider, ProviderRequest } from '#gateway/providers/provider.ts';
import type { SecretRedactor } from '#gateway/providers/secret-redactor.ts';
import type { Transport } from '#gateway/transport/transport.ts';

export interface Requests {
  canServe(target: ModelTarget): boolean;
  /**
   * @param continueFrom the answer's text so far, which the target continues; null for a new answer
   * @returns null if the target cannot express what the call demands
   */
  requestFor(
    target: ModelTarget,
    continueFrom: string | null,
  ): OutgoingRequest | null | Promise<OutgoingRequest | null>;
}

export interface OutgoingRequest extends ProviderRequest {
  readonly transport: Transport;
  readonly redactor: SecretRedactor | null;
  /** The value of the header with what the target does not get; missing if it gets everything. */
  readonly ignored?: string;
}

export function outgoingThrough(
  { transport, redactor }: Provider,
  { request, translator }: ProviderRequest,
): OutgoingRequest {
  return { transport, redactor: redactor ?? null, request, translator };
}

/** @param names in lower case @returns alternating names and values */
export function pickHeaders(names: ReadonlyArray<string>, headers: IncomingHttpHeaders): ReadonlyArray<string> {
  return names.flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [name, value] : [];
  });
}

/** Every provider gets these headers of the client, because they concern only one request. */
const unchanged = ['openai-beta', 'traceparent', 'tracestate'];

/**
 * All tenants share the operator's key. If two tenants chose the same `Idempotency-Key`, a provider would give one the
 * answer of the other, so the value is made unique to the project.
 * @param projectId of the caller's key
 * @returns alternating names and values
 */
export function forwardedHeaders(headers: IncomingHttpHeaders, projectId: string): ReadonlyArray<string> {
  const forwarded = pickHeaders(unchanged, headers);
  const idempotencyKey = headers['idempotency-key'];
  // An empty value is left out: its hash would be the same for all requests of a project.
  if (typeof idempotencyKey !== 'string' || idempotencyKey === '') return forwarded;
  return [...forwarded, 'idempotency-key', keyOfProject(projectId, idempotencyKey)];
}

/** SHA-256, in hex, of the project's id, a line feed and the unchanged bytes of the client's value. */
function keyOfProject(projectId: string, value: string): string {
  return hash('sha256', Buffer.from(`${projectId}\n${value}`, 'latin1'));
}
