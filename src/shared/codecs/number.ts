import * as t from 'io-ts';
import { withJsonSchema } from './json-schema.ts';

/** A number or, in a query string, its digits. */
export function wholeNumber(minimum: number, maximum: number): t.Type<number, number, unknown> {
  return wholeNumberRead(minimum, maximum, (value) =>
    typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value,
  );
}

/** A whole number in JSON bodies: a text with digits is not accepted. */
export function integer(minimum: number, maximum: number): t.Type<number, number, unknown> {
  return wholeNumberRead(minimum, maximum, t.identity);
}

function wholeNumberRead(
  minimum: number,
  maximum: number,
  read: (value: unknown) => unknown,
): t.Type<number, number, unknown> {
  const inRange = (value: unknown): value is number =>
    Number.isSafeInteger(value) && (value as number) >= minimum && (value as number) <= maximum;
  const codec = new t.Type<number, number, unknown>(
    `whole number ${minimum}..${maximum}`,
    inRange,
    (value, context) => {
      const number = read(value);
      return inRange(number)
        ? t.success(number)
        : t.failure(value, context, `must be a whole number from ${minimum} to ${maximum}`);
    },
    t.identity,
  );
  return withJsonSchema(codec, { type: 'integer', minimum, maximum });
}

export function numberBetween(minimum: number, maximum: number): t.Type<number, number, unknown> {
  const inRange = (value: unknown): value is number =>
    typeof value === 'number' && value >= minimum && value <= maximum;
  const codec = new t.Type<number, number, unknown>(
    `number ${minimum}..${maximum}`,
    inRange,
    (value, context) =>
      inRange(value) ? t.success(value) : t.failure(value, context, `must be a number from ${minimum} to ${maximum}`),
    t.identity,
  );
  return withJsonSchema(codec, { type: 'number', minimum, maximum });
}
