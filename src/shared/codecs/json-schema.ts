import type * as t from 'io-ts';
import type { JsonObject } from '#shared/json/json.ts';

/**
 * What a codec checks, in JSON Schema's words (2020-12). A codec that io-ts cannot describe by its tag is annotated
 * here once, where it is made, so that OpenAPI and MCP publish exactly what is enforced.
 */
const schemas = new WeakMap<t.Mixed, JsonObject>();

/** Says how a codec reads in JSON Schema. Gives the codec back. */
export function withJsonSchema<C extends t.Mixed>(codec: C, schema: JsonObject): C {
  schemas.set(codec, schema);
  return codec;
}

/** The JSON Schema that a codec was annotated with, if any. */
export function schemaOf(codec: t.Mixed): JsonObject | undefined {
  return schemas.get(codec);
}

/** What codecs check besides what io-ts knows of their structure, in JSON Schema's words. */
const furtherWords = new WeakMap<t.Mixed, JsonObject>();

/** The JSON Schema words beside a codec's structure: `minItems`, say. */
export function schemaKeywordsOf(codec: t.Mixed): JsonObject | undefined {
  return furtherWords.get(codec);
}

/** Adds JSON Schema words to a codec's structure. Gives the codec back. */
export function withSchemaKeywords<C extends t.Mixed>(codec: C, keywords: JsonObject): C {
  furtherWords.set(codec, keywords);
  return codec;
}
