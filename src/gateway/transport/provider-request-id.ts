import type { IncomingHttpHeaders } from 'node:http';

/** The header with the provider's own id of a request, which a provider's support asks for. */
const responseHeader = 'X-Switchyard-Provider-Request-Id';

/** The form of a provider's id. Anything else is not an id, or could not be sent on. */
const id = /^[\x21-\x7e]{1,200}$/;

/** The provider's id of a request, from its answer's headers; null where it gives none. */
export function providerRequestIdIn(headers: IncomingHttpHeaders): string | null {
  // OpenAI and most others have the first, ElevenLabs the second.
  const value = headers['x-request-id'] ?? headers['request-id'];
  return typeof value === 'string' && id.test(value) ? value : null;
}

/** The header with the id, as name and value; empty without an id. */
export function providerRequestIdField(requestId: string | null): ReadonlyArray<string> {
  return requestId === null ? [] : [responseHeader, requestId];
}
