import type { IncomingHttpHeaders } from 'node:http';

/** The header with the provider's own id of a request, which a provider's support asks for. */
const toldAs = 'X-Switchyard-Provider-Request-Id';

/** What a provider's id may look like: anything else is no id, or could not be sent on. */
const id = /^[\x21-\x7e]{1,200}$/;

/** The provider's id of a request, from its answer's headers; null where it gives none. */
export function providerRequestIdIn(headers: IncomingHttpHeaders): string | null {
  // OpenAI and most others have the first, ElevenLabs the second.
  const value = headers['x-request-id'] ?? headers['request-id'];
  return typeof value === 'string' && id.test(value) ? value : null;
}

/** The header that holds the id, name and value in turn; none without an id. */
export function providerRequestIdField(requestId: string | null): ReadonlyArray<string> {
  return requestId === null ? [] : [toldAs, requestId];
}
