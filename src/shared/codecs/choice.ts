import * as t from 'io-ts';
import { withJsonSchema } from './json-schema.ts';

export function oneOf<Value extends string>(...values: readonly [Value, ...Value[]]): t.Type<Value, Value, unknown> {
  return enumeration(values.join(' | '), ...values);
}

/** @param name in PascalCase: the specification has the enumeration under it, and generated clients a type */
export function enumeration<Value extends string>(
  name: string,
  ...values: readonly [Value, ...Value[]]
): t.Type<Value, Value, unknown> {
  const is = (value: unknown): value is Value => values.includes(value as Value);
  const codec = new t.Type<Value, Value, unknown>(
    name,
    is,
    (value, context) =>
      is(value)
        ? t.success(value)
        : t.failure(value, context, `must be one of ${values.map((v) => `"${v}"`).join(', ')}`),
    t.identity,
  );
  return withJsonSchema(
    codec,
    values.length === 1 ? { type: 'string', const: values[0] } : { type: 'string', enum: [...values] },
  );
}

export function nullable<C extends t.Mixed>(codec: C): t.UnionC<[C, t.NullC]> {
  return t.union([codec, t.null]);
}

/** A boolean or, in a query string, the word for it. */
export const flag = withJsonSchema(
  new t.Type<boolean, boolean, unknown>(
    'flag',
    t.boolean.is,
    (value, context) => {
      if (value === true || value === 'true') return t.success(true);
      if (value === false || value === 'false') return t.success(false);
      return t.failure(value, context, 'must be true or false');
    },
    t.identity,
  ),
  { type: 'boolean' },
);
