import type { Json, JsonObject } from '#shared/json/json.ts';

const byteOrderMark = '\ufeff';

/** The JSON value in a text or in bytes of UTF-8, with or without its mark; undefined for what is none. Never throws. */
export function parsedJson(json: string | Buffer): Json | undefined {
  const text = typeof json === 'string' ? json : json.toString('utf8');
  try {
    return JSON.parse(text.startsWith(byteOrderMark) ? text.slice(1) : text) as Json;
  } catch {
    return undefined;
  }
}

/** Whether a value is an object, and no array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
