import type { IncomingHttpHeaders } from 'node:http';

/** The header with the provider's own id of a request, which a provider's support asks for. */
const responseHeader = 'X-Switchyard-Provider-Request-Id';

/** The form of a provider's id. Any other text is not an id, or cannot be a header's value. */
const id = /^[\x21-\x7e]{1,200}$/;

/** Returns the provider's id of a request from the headers of its answer; null without one. */
export function providerRequestIdIn(headers: IncomingHttpHeaders): string | null {
  // OpenAI and most others use the first name, ElevenLabs the second.
  const value = headers['x-request-id'] ?? headers['request-id'];
  return typeof value === 'string' && id.test(value) ? value : null;
}

/** Returns the header with the id, as name and value; empty without an id. */
export function providerRequestIdField(requestId: string | null): ReadonlyArray<string> {
  return requestId === null ? [] : [responseHeader, requestId];
}
