import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';

/** What an object of settings decodes to. */
export type StrictObjectOf<Codecs extends Record<string, t.Mixed>> = {
  readonly [Name in keyof Codecs]: t.TypeOf<Codecs[Name]>;
};

/**
 * An object of settings: each is decoded by its codec (`withDefault` where it may be left out), and a name that is none
 * of them is a mistake, so that a slip of the pen is told and not passed over.
 */
export function strictObject<Codecs extends Record<string, t.Mixed>>(
  codecs: Codecs,
): t.Type<StrictObjectOf<Codecs>, unknown, unknown> {
  const names = Object.keys(codecs);
  return new t.Type<StrictObjectOf<Codecs>, unknown, unknown>(
    `settings(${names.join(', ')})`,
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

/** Settings by a name of the operator's choice. */
export function recordOf<C extends t.Mixed>(codec: C): t.Type<Readonly<Record<string, t.TypeOf<C>>>, unknown, unknown> {
  return new t.Type<Readonly<Record<string, t.TypeOf<C>>>, unknown, unknown>(
    `named(${codec.name})`,
    (value): value is Readonly<Record<string, t.TypeOf<C>>> => isObject(value) && Object.values(value).every(codec.is),
    (value, context) => {
      if (!isObject(value)) return t.failure(value, context, 'must be an object');
      const errors: t.ValidationError[] = [];
      const decoded: [string, t.TypeOf<C>][] = [];
      for (const [name, given] of Object.entries(value)) {
        const inside = t.appendContext(context, name, codec, given);
        const fault = checkName(name);
        const one = fault === null ? codec.validate(given, inside) : t.failure(given, inside, fault);
        if (E.isLeft(one)) errors.push(...one.left);
        else decoded.push([name, one.right]);
      }
      return errors.length > 0 ? t.failures(errors) : t.success(Object.fromEntries(decoded));
    },
    t.identity,
  );
}

const maxNameLength = 200;

/** Names stand in headers, metrics and logs: what would break those is refused where the name is given. */
function checkName(name: string): string | null {
  if (name === '' || name.length > maxNameLength) return `must have a name of 1 to ${maxNameLength} characters`;
  return /^[\x21-\x7e]+$/.test(name) ? null : 'must have a name of visible ASCII characters, without blanks';
}

function unknownName(
  name: string,
  value: unknown,
  context: t.Context,
  names: ReadonlyArray<string>,
): t.ValidationError {
  return {
    // A value that is undefined reads as one that is required.
    value: value ?? null,
    context: t.appendContext(context, name, t.unknown, value),
    message: `is no setting: there are ${names.join(', ')}`,
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
