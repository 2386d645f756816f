import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { isObject } from '#shared/json/json-value.ts';

/**
 * A codec of an object with any names, whose values have one codec.
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
