import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import { isObject, type JsonObject, parsedJson } from '#shared/json/json.ts';

/**
 * Returns the headers of a message in "Streamable HTTP". Since 2026 the headers also name the protocol, the method and
 * the subject of each message.
 * @param agreed the protocol that `initialize` has agreed on; null before that, and for protocols without `initialize`
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

/** Returns the protocol that the answer to `initialize` names; null for a refusal. */
export function protocolOf(answer: string): string | null {
  const message = parsedJson(answer);
  const result = isObject(message) && isObject(message.result) ? message.result : {};
  return typeof result.protocolVersion === 'string' ? result.protocolVersion : null;
}

/**
 * Reads the messages in a response of the service, each on one line. The response is JSON, or a stream of events that
 * has ended.
 * @returns null for a response without messages: the service has refused the request itself
 */
export function messagesOf({ status, headers }: Pick<Response, 'status' | 'headers'>, text: string) {
  if (status === 202) return [];
  const type = headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream')) return eventsIn(text);
  const message = parsedJson(text);
  return isObject(message) && message.jsonrpc === '2.0' ? [JSON.stringify(message)] : null;
}

/** The service writes each message as one `data` line. */
function eventsIn(text: string): ReadonlyArray<string> {
  return text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [line.slice('data: '.length)] : []));
}
