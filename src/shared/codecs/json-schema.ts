import type * as t from 'io-ts';
import type { JsonObject } from '#shared/json/json.ts';

/**
 * The JSON Schemas (2020-12) of codecs. A codec that io-ts cannot describe by its tag is annotated where it is
 * created, so that OpenAPI and MCP publish exactly what is enforced.
 */
const schemas = new WeakMap<t.Mixed, JsonObject>();

export function withJsonSchema<C extends t.Mixed>(codec: C, schema: JsonObject): C {
  schemas.set(codec, schema);
  return codec;
}

export function schemaOf(codec: t.Mixed): JsonObject | undefined {
  return schemas.get(codec);
}

/** Further keywords of checks beyond the structure that io-ts knows. */
const furtherWords = new WeakMap<t.Mixed, JsonObject>();

/** Keywords such as `minItems`. */
export function schemaKeywordsOf(codec: t.Mixed): JsonObject | undefined {
  return furtherWords.get(codec);
}

export function withSchemaKeywords<C extends t.Mixed>(codec: C, keywords: JsonObject): C {
  furtherWords.set(codec, keywords);
  return codec;
}
