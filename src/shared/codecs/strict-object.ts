import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { isObject } from '#shared/json/json-value.ts';

/** The type that a strict object decodes to. */
export type StrictObjectOf<Codecs extends Record<string, t.Mixed>> = {
  readonly [Name in keyof Codecs]: t.TypeOf<Codecs[Name]>;
};

/**
 * A codec of an object with exactly these members. Use `withDefault` for a member that may be left out. Any other name
 * is an issue, so that no misspelt name passes unnoticed.
 */
export function strictObject<Codecs extends Record<string, t.Mixed>>(
  codecs: Codecs,
): t.Type<StrictObjectOf<Codecs>, unknown, unknown> {
  const names = Object.keys(codecs);
  return new t.Type<StrictObjectOf<Codecs>, unknown, unknown>(
    `strictObject(${names.join(', ')})`,
    (value): value is StrictObjectOf<Codecs> => isObject(value) && names.every((name) => codecs[name]?.is(value[name])),
    (value, context) => {
      if (!isObject(value)) return t.failure(value, context, 'must be an object');
      const errors: t.ValidationError[] = Object.keys(value)
        .filter((name) => !Object.hasOwn(codecs, name))
        .map((name) => unknownName(name, value[name], context, names));
      const decoded: Record<string, unknown> = {};
      for (const [name, codec] of Object.entries(codecs)) {
        const given = Object.hasOwn(value, name) ? value[name] : undefined;
        const one = codec.validate(given, t.appendContext(context, name, codec, given));
        if (E.isLeft(one)) errors.push(...one.left);
        else decoded[name] = one.right;
      }
      return errors.length > 0 ? t.failures(errors) : t.success(decoded as StrictObjectOf<Codecs>);
    },
    t.identity,
  );
}

function unknownName(
  name: string,
  value: unknown,
  context: t.Context,
  names: ReadonlyArray<string>,
): t.ValidationError {
  return {
    // An undefined value is reported as a missing one.
    value: value ?? null,
    context: t.appendContext(context, name, t.unknown, value),
    message: `is not a setting: there are ${names.join(', ')}`,
  };
}
