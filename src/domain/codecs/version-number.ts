import * as t from 'io-ts';
import { withJsonSchema } from '#shared/codecs/json-schema.ts';

/** The number of a version, which counts from 1. */
export const versionNumber = withJsonSchema(
  new t.Type<number, number, unknown>(
    'version number',
    (value): value is number => Number.isSafeInteger(value),
    (value, context) =>
      Number.isSafeInteger(value) ? t.success(value as number) : t.failure(value, context, 'must be an integer'),
    t.identity,
  ),
  { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
);
