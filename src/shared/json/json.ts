/** A JSON value (RFC 8259), as `JSON.parse` returns it. */
export type Json = string | number | boolean | null | ReadonlyArray<Json> | JsonObject;

/** A JSON object. Any member may be absent. */
export interface JsonObject {
  readonly [member: string]: Json | undefined;
}

const byteOrderMark = '\ufeff';

/** Parses a text, with or without a byte order mark. Returns undefined if it is not JSON. Never throws. */
export function parsedJson(json: string): Json | undefined {
  try {
    return JSON.parse(json.startsWith(byteOrderMark) ? json.slice(1) : json) as Json;
  } catch {
    return undefined;
  }
}

/** Whether a value is an object and no array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Counts the JSON values of a value: itself, and those in it. */
export function countValues(value: Json | undefined): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, each) => sum + countValues(each), 1);
}
