import type { Json, JsonObject } from '#src/json.ts';

/** The JSON value in a text or in bytes of UTF-8; undefined for what is none. Never throws. */
export function parsedJson(text: string | Buffer): Json | undefined {
  try {
    return JSON.parse(typeof text === 'string' ? text : text.toString('utf8')) as Json;
  } catch {
    return undefined;
  }
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
