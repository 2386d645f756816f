import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import type { JsonObject } from '#shared/json/json.ts';
import { isObject, parsedJson } from '#shared/json/json-value.ts';

/**
 * The headers that "Streamable HTTP" puts beside a message. Since 2026 each message names its protocol, and what it is
 * about, in headers too.
 * @param agreed the protocol that `initialize` came to; null before, and for protocols without it
 */
export function messageHeaders(message: JsonObject | null, agreed: string | null): Record<string, string> {
  const always = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
  const params = isObject(message?.params) ? message.params : {};
  const named = isObject(params._meta) ? params._meta[PROTOCOL_VERSION_META_KEY] : undefined;
  const protocol = typeof named === 'string' ? named : agreed;
  if (protocol === null) return always;
  const headers: Record<string, string> = { ...always, 'Mcp-Protocol-Version': protocol };
  if (typeof named !== 'string' || typeof message?.method !== 'string') return headers;
  headers['Mcp-Method'] = message.method;
  const subject = params.name ?? params.uri;
  if (typeof subject === 'string') headers['Mcp-Name'] = subject;
  return headers;
}

/** The protocol that the answer to `initialize` names; null in a refusal. */
export function protocolOf(answer: string): string | null {
  const message = parsedJson(answer);
  const result = isObject(message) && isObject(message.result) ? message.result : {};
  return typeof result.protocolVersion === 'string' ? result.protocolVersion : null;
}
