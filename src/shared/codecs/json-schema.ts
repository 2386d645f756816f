import type * as t from 'io-ts';
import type { JsonObject } from '#shared/json/json.ts';

/**
 * The JSON Schemas (2020-12) of codecs. A codec that io-ts cannot describe by its tag is annotated where it is
 * created, so that OpenAPI and MCP publish exactly what is enforced.
 */
const schemas = new WeakMap<t.Mixed, JsonObject>();

/** Annotates a codec with its JSON Schema. @returns the codec */
export function withJsonSchema<C extends t.Mixed>(codec: C, schema: JsonObject): C {
  schemas.set(codec, schema);
  return codec;
}

/** Returns the JSON Schema with which a codec was annotated, if any. */
export function schemaOf(codec: t.Mixed): JsonObject | undefined {
  return schemas.get(codec);
}

/** The JSON Schema keywords of checks beyond the structure that io-ts knows. */
const furtherWords = new WeakMap<t.Mixed, JsonObject>();

/** Returns the JSON Schema keywords next to a codec's structure, such as `minItems`. */
export function schemaKeywordsOf(codec: t.Mixed): JsonObject | undefined {
  return furtherWords.get(codec);
}

/** Adds JSON Schema keywords to a codec's structure. @returns the codec */
export function withSchemaKeywords<C extends t.Mixed>(codec: C, keywords: JsonObject): C {
  furtherWords.set(codec, keywords);
  return codec;
}
