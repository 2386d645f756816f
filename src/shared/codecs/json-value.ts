import * as t from 'io-ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { withJsonSchema } from './json-schema.ts';

/**
 * Any JSON. Undefined is a fault. A result of `JSON.parse` is JSON, and to walk it would cost more than to parse it.
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

export const jsonObject = withJsonSchema(
  new t.Type<JsonObject, JsonObject, unknown>(
    'json object',
    isObject,
    (value, context) => (isObject(value) ? t.success(value) : t.failure(value, context, 'must be an object')),
    t.identity,
  ),
  { type: 'object' },
);
