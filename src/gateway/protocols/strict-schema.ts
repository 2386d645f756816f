import { parseForeign } from '#gateway/framing/foreign-json.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';

/** OpenAI accepts these in a strict schema with every model. */
const known = [
  ...['type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'const', 'anyOf', '$ref', '$defs'],
  ...['title', 'description'],
];

/**
 * True for a schema that OpenAI takes as a strict one. OpenAI refuses an object with a property that is not required,
 * or with others than its properties (https://platform.openai.com/docs/guides/structured-outputs#supported-schemas).
 * Anthropic takes both, so a client of Messages that says "strict" may have such a schema.
 */
export function isStrictSchema(schema: string): boolean {
  const root = parseForeign(schema);
  return isObject(root) && root.type === 'object' && isStrictPart(root);
}

function isStrictPart(schema: Json | undefined): boolean {
  if (!isObject(schema) || Object.keys(schema).some((name) => !known.includes(name))) return false;
  const { type, properties = {}, items, anyOf = [], $ref, $defs = {} } = schema;
  if (!isObject(properties) || !isObject($defs) || !Array.isArray(anyOf)) return false;
  if (type === undefined && anyOf.length === 0 && $ref === undefined) return false;
  const types = Array.isArray(type) ? type : [type];
  if (types.includes('object') && !isClosed(schema, properties)) return false;
  const inside = [...Object.values(properties), ...Object.values($defs), ...anyOf];
  return [...inside, ...(types.includes('array') ? [items] : [])].every(isStrictPart);
}

function isClosed({ required, additionalProperties }: JsonObject, properties: JsonObject): boolean {
  const names = new Set(Array.isArray(required) ? required : []);
  return additionalProperties === false && Object.keys(properties).every((name) => names.has(name));
}
