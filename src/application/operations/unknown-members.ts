import type { InputError } from '#domain/shared/failure.ts';
import { maxInputErrors } from '#exchange/input-errors.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { pointerTo } from '#shared/json/json-pointer.ts';

const message = 'is unknown';

/**
 * Finds unknown members at every depth.
 * @param schema of the body, without references; null for an operation without a body
 * @returns at most 100 faults
 */
export function unknownMembers(schema: JsonObject | null, body: JsonObject): ReadonlyArray<InputError> {
  const found: string[] = [];
  collect(schema ?? { type: 'object', properties: {} }, body, [], found);
  return found.map((pointer) => ({ pointer, message }));
}

export function unknownParameters(query: string, known: ReadonlySet<string>): ReadonlyArray<InputError> {
  const names = [...new Set(new URLSearchParams(query).keys())].filter((name) => !known.has(name));
  return names.slice(0, maxInputErrors).map((name) => ({ pointer: pointerTo([name]), parameter: name, message }));
}

function collect(schema: JsonObject, value: Json | undefined, keys: ReadonlyArray<string>, found: string[]): void {
  if (found.length >= maxInputErrors) return;
  if (Array.isArray(schema.anyOf)) collectOfAny(schema.anyOf as ReadonlyArray<JsonObject>, value, keys, found);
  else if (Array.isArray(value)) collectOfItems(schema.items, value, keys, found);
  else if (isObject(value)) collectOfObject(schema, value as JsonObject, keys, found);
}

function collectOfItems(
  schema: Json | undefined,
  values: ReadonlyArray<Json>,
  keys: ReadonlyArray<string>,
  found: string[],
): void {
  if (!isObject(schema)) return;
  for (const [index, item] of values.entries()) collect(schema as JsonObject, item, [...keys, String(index)], found);
}

function collectOfObject(schema: JsonObject, value: JsonObject, keys: ReadonlyArray<string>, found: string[]): void {
  // An object schema without members is free-form.
  if (schema.properties === undefined && !isObject(schema.additionalProperties)) return;
  const known = (schema.properties ?? {}) as Readonly<Record<string, JsonObject>>;
  for (const [name, member] of Object.entries(value)) {
    if (found.length >= maxInputErrors) return;
    const inside = Object.hasOwn(known, name) ? known[name] : schema.additionalProperties;
    if (isObject(inside)) collect(inside as JsonObject, member, [...keys, name], found);
    else if (inside !== true) found.push(pointerTo([...keys, name]));
  }
}

/** Collects the unknown members of the alternative that has the fewest. */
function collectOfAny(
  alternatives: ReadonlyArray<JsonObject>,
  value: Json | undefined,
  keys: ReadonlyArray<string>,
  found: string[],
): void {
  if (typeof value !== 'object' || value === null) return;
  const type = Array.isArray(value) ? 'array' : 'object';
  const fitting = alternatives.filter(
    (alternative) => alternative.type === undefined || [alternative.type].flat().includes(type),
  );
  const each = fitting.map((alternative) => {
    const unknown: string[] = [];
    collect(alternative, value, keys, unknown);
    return unknown;
  });
  const fewest = each.reduce((best, unknown) => (unknown.length < best.length ? unknown : best), each[0] ?? []);
  found.push(...fewest.slice(0, maxInputErrors - found.length));
}
