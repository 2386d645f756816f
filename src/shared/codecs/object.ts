import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { isObject } from '#shared/json/json.ts';

type ObjectOf<Required extends t.Props, Optional extends t.Props> = t.TypeOf<t.TypeC<Required>> &
  t.TypeOf<t.PartialC<Optional>>;

/**
 * Leaves unknown members out, so that only checked members are stored. The codecs of io-ts copy a member named
 * `__proto__` by assignment; this one copies known members by name.
 */
export class ObjectType<Required extends t.Props, Optional extends t.Props> extends t.Type<
  ObjectOf<Required, Optional>,
  unknown,
  unknown
> {
  readonly _tag = 'ObjectType';
  /** The parts of the codec, for JSON Schema. */
  readonly parts: readonly [t.TypeC<Required>, t.PartialC<Optional>];

  constructor(required: Required, optional: Optional, name?: string) {
    const parts = [t.type(required), t.partial(optional)] as const;
    const whole = t.intersection([parts[0], parts[1]]);
    super(
      name ?? whole.name,
      whole.is,
      (value, context) => validateMembers(required, optional, value, context),
      t.identity,
    );
    this.parts = parts;
  }
}

/** Makes an `ObjectType`. @param name in PascalCase, if the documentation lists its schema under a name */
export function object<Required extends t.Props, Optional extends t.Props>(
  required: Required,
  optional: Optional,
  name?: string,
): ObjectType<Required, Optional> {
  return new ObjectType(required, optional, name);
}

function validateMembers<Required extends t.Props, Optional extends t.Props>(
  required: Required,
  optional: Optional,
  value: unknown,
  context: t.Context,
): t.Validation<ObjectOf<Required, Optional>> {
  if (!isObject(value)) return t.failure(value, context, 'must be an object');
  const members: Record<string, unknown> = {};
  const errors: t.Errors = [];
  const take = (name: string, codec: t.Mixed, member: unknown) => {
    const result = codec.validate(member, t.appendContext(context, name, codec, member));
    if (result._tag === 'Left') errors.push(...result.left);
    else members[name] = result.right;
  };
  const given = (name: string) => (Object.hasOwn(value, name) ? value[name] : undefined);
  for (const [name, codec] of Object.entries<t.Mixed>(required)) take(name, codec, given(name));
  for (const [name, codec] of Object.entries<t.Mixed>(optional)) {
    const member = given(name);
    if (member !== undefined) take(name, codec, member);
  }
  return errors.length > 0 ? t.failures(errors) : t.success(members as ObjectOf<Required, Optional>);
}

export type StrictObjectOf<Codecs extends Record<string, t.Mixed>> = {
  readonly [Name in keyof Codecs]: t.TypeOf<Codecs[Name]>;
};

/**
 * Use `withDefault` for a member that may be left out. Any other name is an issue, so that no misspelt name passes
 * unnoticed.
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

/**
 * An object with any names, and one codec for the values.
 * @param checkName returns what is wrong with a name; null for nothing
 */
export function recordOf<C extends t.Mixed>(
  codec: C,
  checkName: (name: string) => string | null,
): t.Type<Readonly<Record<string, t.TypeOf<C>>>, unknown, unknown> {
  return new t.Type<Readonly<Record<string, t.TypeOf<C>>>, unknown, unknown>(
    `recordOf(${codec.name})`,
    (value): value is Readonly<Record<string, t.TypeOf<C>>> => isObject(value) && Object.values(value).every(codec.is),
    (value, context) => {
      if (!isObject(value)) return t.failure(value, context, 'must be an object');
      const errors: t.ValidationError[] = [];
      const decoded: [string, t.TypeOf<C>][] = [];
      for (const [name, given] of Object.entries(value)) {
        const inside = t.appendContext(context, name, codec, given);
        const issue = checkName(name);
        const one = issue === null ? codec.validate(given, inside) : t.failure(given, inside, issue);
        if (E.isLeft(one)) errors.push(...one.left);
        else decoded.push([name, one.right]);
      }
      return errors.length > 0 ? t.failures(errors) : t.success(Object.fromEntries(decoded));
    },
    t.identity,
  );
}
