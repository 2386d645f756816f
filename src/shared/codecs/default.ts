import * as t from 'io-ts';
import type { Json } from '#shared/json/json.ts';

/** In a `t.partial`: takes this value when the member is absent. */
export function withDefault<A extends Json, O>(codec: t.Type<A, O, unknown>, value: A): t.Type<A, O, unknown> {
  const defaulting = new t.Type<A, O, unknown>(
    codec.name,
    codec.is,
    (input, context) => (input === undefined ? t.success(value) : codec.validate(input, context)),
    codec.encode,
  );
  defaulted.set(defaulting, { codec, value });
  return defaulting;
}

const defaulted = new WeakMap<t.Mixed, { codec: t.Mixed; value: Json }>();

/** The codec and value behind a `withDefault`, for its JSON Schema. */
export function defaultOf(codec: t.Mixed): { readonly codec: t.Mixed; readonly value: Json } | undefined {
  return defaulted.get(codec);
}

/** May be left out: undefined then. */
export function optional<A>(codec: t.Type<A, unknown, unknown>): t.Type<A | undefined, unknown, unknown> {
  return new t.Type<A | undefined, unknown, unknown>(
    codec.name,
    (value): value is A | undefined => value === undefined || codec.is(value),
    (value, context) => (value === undefined ? t.success(undefined) : codec.validate(value, context)),
    t.identity,
  );
}

/** Takes another input when it is left out, and decodes that: `{}` gives an object of the defaults of its members. */
export function withDefaultInput<A>(codec: t.Type<A, unknown, unknown>, input: Json): t.Type<A, unknown, unknown> {
  return new t.Type<A, unknown, unknown>(
    codec.name,
    codec.is,
    (value, context) => codec.validate(value === undefined ? input : value, context),
    t.identity,
  );
}
