import * as t from 'io-ts';
import { isObject } from '#shared/json/json-value.ts';

type ObjectOf<Required extends t.Props, Optional extends t.Props> = t.TypeOf<t.TypeC<Required>> &
  t.TypeOf<t.PartialC<Optional>>;

/**
 * A codec of an object with these members. It leaves unknown members out, so that only checked members are stored. The
 * codecs of io-ts copy a member named `__proto__` by assignment; this one copies known members by name.
 */
export class ObjectType<Required extends t.Props, Optional extends t.Props> extends t.Type<
  ObjectOf<Required, Optional>,
  unknown,
  unknown
> {
  readonly _tag = 'ObjectType';
  /** The required and the optional members, for JSON Schema. */
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

/**
 * Declares an object: see `ObjectType`.
 * @param name in PascalCase, if the documentation lists its schema under a name
 */
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
