import * as t from 'io-ts';
import type { Json } from '#shared/json/json.ts';

/** Gives a member of a `t.partial` a default. */
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

/** The default, for the JSON Schema of a `withDefault`. */
export function defaultOf(codec: t.Mixed): { readonly codec: t.Mixed; readonly value: Json } | undefined {
  return defaulted.get(codec);
}

/** A value that is undefined if the member is left out. */
export function optional<A>(codec: t.Type<A, unknown, unknown>): t.Type<A | undefined, unknown, unknown> {
  return new t.Type<A | undefined, unknown, unknown>(
    codec.name,
    (value): value is A | undefined => value === undefined || codec.is(value),
    (value, context) => (value === undefined ? t.success(undefined) : codec.validate(value, context)),
    t.identity,
  );
}

/** Decodes another input if its own is left out. The input `{}` gives an object of the defaults of its members. */
export function withDefaultInput<A>(codec: t.Type<A, unknown, unknown>, input: Json): t.Type<A, unknown, unknown> {
  return new t.Type<A, unknown, unknown>(
    codec.name,
    codec.is,
    (value, context) => codec.validate(value === undefined ? input : value, context),
    t.identity,
  );
}
