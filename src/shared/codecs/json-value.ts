import * as t from 'io-ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { isObject } from '#shared/json/json-value.ts';
import { withJsonSchema } from './json-schema.ts';

/**
 * Any JSON value, required to be there. What came from `JSON.parse` is JSON already: walking it would cost more than
 * parsing it did.
 */
export const json = withJsonSchema(
  new t.Type<Json, Json, unknown>(
    'json',
    (value): value is Json => value !== undefined,
    (value, context) => (value === undefined ? t.failure(value, context, 'is required') : t.success(value as Json)),
    t.identity,
  ),
  { description: 'Any JSON value' },
);

/** Any JSON object. */
export const jsonObject = withJsonSchema(
  new t.Type<JsonObject, JsonObject, unknown>(
    'json object',
    isObject,
    (value, context) => (isObject(value) ? t.success(value) : t.failure(value, context, 'must be an object')),
    t.identity,
  ),
  { type: 'object' },
);
