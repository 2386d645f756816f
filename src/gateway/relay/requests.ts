import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Target } from '#gateway/config/catalogue.ts';
import type { Provider, ProviderRequest } from '#gateway/providers/provider.ts';
import type { SecretRedactor } from '#gateway/providers/secret-redactor.ts';
import type { Transport } from '#gateway/transport/transport.ts';

/** The requests of one call for its targets. */
export interface Requests {
  /** Whether a target's provider supports the call. */
  canServe(target: Target): boolean;
  /**
   * Makes the request for a target.
   * @param continueFrom the answer's text so far, which the target continues; null for a new answer
   * @returns null if the target cannot express what the call demands
   */
  requestFor(target: Target, continueFrom: string | null): OutgoingRequest | null | Promise<OutgoingRequest | null>;
}

/** A request to a provider, with the means to send it. */
export interface OutgoingRequest extends ProviderRequest {
  readonly transport: Transport;
  /** Removes the operator's secrets from a refusal. */
  readonly redactor: SecretRedactor | null;
  /** The value of the header that names what the target does not get; missing if it gets everything. */
  readonly ignored?: string;
}

/** Adds to a request the means of its provider to send it. */
export function outgoingThrough(
  { transport, redactor }: Provider,
  { request, translator }: ProviderRequest,
): OutgoingRequest {
  return { transport, redactor: redactor ?? null, request, translator };
}

/**
 * Returns some headers of a client's request, names and values in turn.
 * @param names in lower case
 */
export function pickHeaders(names: ReadonlyArray<string>, headers: IncomingHttpHeaders): ReadonlyArray<string> {
  return names.flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [name, value] : [];
  });
}

/** Client headers that every provider gets unchanged, because they concern only one request. */
const unchanged = ['openai-beta', 'traceparent', 'tracestate'];

/**
 * The headers of a client's request that its providers get.
 *
 * All tenants share the operator's key. If two tenants chose the same `Idempotency-Key`, a provider would give one the
 * answer of the other, so the value is made unique to the project.
 * @param projectId the project of the caller's key
 * @returns names and values in turn
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
