import type * as t from 'io-ts';
import { structureOf } from '#shared/codecs/checked.ts';
import { defaultOf } from '#shared/codecs/default.ts';
import { schemaKeywordsOf, schemaOf } from '#shared/codecs/json-schema.ts';
import type { ObjectType } from '#shared/codecs/object.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';

/** Stores a schema elsewhere, under a codec's PascalCase name. Returns the schema to use in its place. */
export type Hoist = (name: string, schema: JsonObject) => JsonObject;

type Tagged =
  | t.StringType
  | t.NumberType
  | t.BooleanType
  | t.NullType
  | t.UnknownType
  | t.AnyArrayType
  | t.AnyDictionaryType
  | t.LiteralType<string | number | boolean>
  | t.KeyofType<Record<string, unknown>>
  | t.ArrayType<t.Mixed>
  | t.ReadonlyArrayType<t.Mixed>
  | t.DictionaryType<t.Mixed, t.Mixed>
  | t.InterfaceType<t.Props>
  | t.PartialType<t.Props>
  | ObjectType<t.Props, t.Props>
  | t.IntersectionType<t.Mixed[]>
  | t.UnionType<t.Mixed[]>
  | t.ExactType<t.HasProps>
  | t.ReadonlyType<t.Mixed>;

const hoistable = /^[A-Z][A-Za-z0-9]+$/;

/**
 * JSON Schema 2020-12. Unknown members are never forbidden, because decoding ignores them.
 * @param codec built from combinators of io-ts and from codecs with a schema (`withJsonSchema`)
 * @param hoist called for each codec with a PascalCase name
 * @throws Error for a codec that it cannot describe. This is a bug, which the start finds
 */
export function jsonSchema(codec: t.Mixed, hoist?: Hoist): JsonObject {
  const defaulted = defaultOf(codec);
  if (defaulted !== undefined) return { ...jsonSchema(defaulted.codec, hoist), default: defaulted.value };
  const structure = structureOf(codec);
  if (structure !== undefined) return jsonSchema(structure, hoist);
  const schema = schemaOf(codec) ?? { ...structural(codec as Tagged, hoist), ...schemaKeywordsOf(codec) };
  return hoist !== undefined && hoistable.test(codec.name) ? hoist(codec.name, schema) : schema;
}

function structural(codec: Tagged, hoist: Hoist | undefined): JsonObject {
  switch (codec._tag) {
    case 'StringType':
      return { type: 'string' };
    case 'NumberType':
      return { type: 'number' };
    case 'BooleanType':
      return { type: 'boolean' };
    case 'NullType':
      return { type: 'null' };
    case 'UnknownType':
      return {};
    case 'AnyArrayType':
      return { type: 'array' };
    case 'AnyDictionaryType':
      return { type: 'object' };
    case 'LiteralType':
      return { type: typeof codec.value, const: codec.value };
    case 'KeyofType':
      return { type: 'string', enum: Object.keys(codec.keys) };
    case 'ArrayType':
    case 'ReadonlyArrayType':
      return { type: 'array', items: jsonSchema(codec.type, hoist) };
    case 'DictionaryType':
      return { type: 'object', additionalProperties: jsonSchema(codec.codomain, hoist) };
    case 'InterfaceType':
      return objectSchema(codec.props, true, hoist);
    case 'PartialType':
      return objectSchema(codec.props, false, hoist);
    case 'ObjectType':
      return intersection(codec.parts, hoist);
    case 'IntersectionType':
      return intersection(codec.types, hoist);
    case 'UnionType':
      return union(codec.types.map((alternative) => jsonSchema(alternative, hoist)));
    case 'ExactType':
    case 'ReadonlyType':
      return jsonSchema(codec.type, hoist);
    default:
      throw new Error(`No JSON Schema for codec "${(codec as t.Mixed).name}": annotate it with withJsonSchema`);
  }
}

function objectSchema(props: t.Props, required: boolean, hoist: Hoist | undefined): JsonObject {
  const names = Object.keys(props);
  const needed = required ? names.filter((name) => defaultOf(props[name] as t.Mixed) === undefined) : [];
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, jsonSchema(props[name] as t.Mixed, hoist)])),
    ...(needed.length > 0 ? { required: needed } : {}),
  };
}

function intersection(codecs: ReadonlyArray<t.Mixed>, hoist: Hoist | undefined): JsonObject {
  // Each part is read in place, so that a `t.type` and a `t.partial` become one object.
  const parts = codecs.map((part) => jsonSchema(part, hoist));
  if (!parts.every(isPlainObjectSchema)) return { allOf: parts };
  const required = parts.flatMap(requiredMembers);
  return {
    type: 'object',
    properties: Object.fromEntries(parts.flatMap((part) => Object.entries(members(part)))),
    ...(required.length > 0 ? { required: [...new Set(required)] } : {}),
  };
}

function isPlainObjectSchema(schema: JsonObject): boolean {
  return (
    schema.type === 'object' &&
    Object.keys(schema).every((key) => key === 'type' || key === 'properties' || key === 'required')
  );
}

function union(alternatives: ReadonlyArray<JsonObject>): JsonObject {
  const others = alternatives.filter((alternative) => alternative.type !== 'null');
  const [only] = others;
  if (only === undefined) return { type: 'null' };
  if (others.length === alternatives.length) return unionOfOthers(others);
  if (others.length === 1 && typeof only.type === 'string') return orNull(only, only.type);
  return { anyOf: [...others, { type: 'null' }] };
}

function unionOfOthers(alternatives: ReadonlyArray<JsonObject>): JsonObject {
  const constants = alternatives.map((alternative) => alternative.const);
  const [type] = alternatives.map((alternative) => alternative.type);
  const isEnumeration =
    constants.every((value) => value !== undefined) && alternatives.every((one) => one.type === type);
  if (isEnumeration) return { type: type as Json, enum: constants as ReadonlyArray<Json> };
  return { anyOf: alternatives };
}

function orNull(schema: JsonObject, type: string): JsonObject {
  const values = schema.enum;
  return { ...schema, type: [type, 'null'], ...(Array.isArray(values) ? { enum: [...values, null] } : {}) };
}

/** The members of an object's schema; none if it is not an object. */
export function members(schema: JsonObject): Readonly<Record<string, JsonObject>> {
  return (schema.properties ?? {}) as Readonly<Record<string, JsonObject>>;
}

export function requiredMembers(schema: JsonObject): ReadonlyArray<string> {
  return (schema.required ?? []) as ReadonlyArray<string>;
}
