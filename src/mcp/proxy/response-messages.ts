import { isObject, parsedJson } from '#shared/json/json-value.ts';

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
