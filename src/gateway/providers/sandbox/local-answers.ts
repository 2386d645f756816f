import type { LocalAnswer } from '#gateway/transport/local-transport.ts';
import type { JsonObject } from '#shared/json/json.ts';

/** Makes an answer with a JSON body. */
export function jsonAnswer(value: JsonObject, status = 200): LocalAnswer {
  return { status, contentType: 'application/json', pieces: [Buffer.from(JSON.stringify(value))] };
}

/** A refusal in OpenAI's form. */
export function refusalAnswer(code: string, message: string): LocalAnswer {
  return jsonAnswer({ error: { message, type: 'invalid_request_error', param: null, code } }, 400);
}

/** Makes an answer with a text. */
export function textAnswer(text: string, contentType: string): LocalAnswer {
  return { status: 200, contentType, pieces: [Buffer.from(text)] };
}

/**
 * A stream of server-sent events.
 * @param end the text after the last event
 */
export function eventAnswer(values: Iterable<JsonObject>, end = 'data: [DONE]\n\n'): LocalAnswer {
  const pieces = function* () {
    for (const value of values) yield Buffer.from(`data: ${JSON.stringify(value)}\n\n`);
    if (end !== '') yield Buffer.from(end);
  };
  return { status: 200, contentType: 'text/event-stream; charset=utf-8', pieces: pieces() };
}

/** Counts the words of a text. The sandbox counts them as tokens. */
export function wordsIn(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length;
}
