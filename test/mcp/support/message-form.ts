import { isObject, type JsonObject } from '#shared/json/json.ts';

/**
 * The form of the answer to a message, with the members of its result. What they contain changes with each operation of
 * the service.
 */
export function messageForm(type: string | null, text: string): string {
  if (text === '') return `${type}`;
  const { result, error } = messageIn(text);
  const [kind, content] = isObject(result) ? ['result', result] : ['error', error];
  return `${type} ${kind}: ${isObject(content) ? Object.keys(content).toSorted() : ''}`;
}

/** The message of an answer, which is JSON or one event of a stream. */
export function messageIn(text: string): JsonObject {
  const [, event] = /^data: (.*)$/m.exec(text) ?? [];
  return JSON.parse(event ?? text);
}
