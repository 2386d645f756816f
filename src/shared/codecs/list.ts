import * as t from 'io-ts';
import { faultAt } from './checked.ts';
import { withSchemaKeywords } from './json-schema.ts';

/** Maximum number of faults of a list. The check stops after them, so that many invalid items cost little. */
const maxListFaults = 200;

/** @param min the fewest items @param uniqueBy a member whose values must differ between items */
export function list<A, O>(
  item: t.Type<A, O, unknown>,
  { min = 0, uniqueBy }: { readonly min?: number; readonly uniqueBy?: keyof A & string } = {},
): t.Type<ReadonlyArray<A>, ReadonlyArray<O>, unknown> {
  const structure = t.readonlyArray(item);
  const codec = Object.assign(
    new t.Type<ReadonlyArray<A>, ReadonlyArray<O>, unknown>(
      structure.name,
      structure.is,
      (value, context) => {
        if (!Array.isArray(value)) return t.failure(value, context, 'must be an array');
        if (value.length < min)
          return t.failure(value, context, `must have at least ${min} item${min === 1 ? '' : 's'}`);
        return validateItems(item, uniqueBy, value, context);
      },
      structure.encode,
    ),
    // The codec has the tag of io-ts's own lists, from which JSON Schema and pointers follow.
    { _tag: structure._tag, type: item },
  );
  return min > 0 ? withSchemaKeywords(codec, { minItems: min }) : codec;
}

function validateItems<A>(
  item: t.Type<A, unknown, unknown>,
  uniqueBy: (keyof A & string) | undefined,
  values: ReadonlyArray<unknown>,
  context: t.Context,
): t.Validation<ReadonlyArray<A>> {
  const items: A[] = [];
  const errors: t.Errors = [];
  const firsts = new Map<unknown, number>();
  for (let index = 0; index < values.length && errors.length < maxListFaults; index += 1) {
    const at = t.appendContext(context, String(index), item, values[index]);
    const result = item.validate(values[index], at);
    if (result._tag === 'Left') {
      errors.push(...result.left);
      continue;
    }
    items.push(result.right);
    if (uniqueBy === undefined) continue;
    const shared = result.right[uniqueBy];
    const first = firsts.get(shared);
    if (first === undefined) firsts.set(shared, index);
    else errors.push(faultAt(at, [uniqueBy], shared, `must be unique: item ${first} has it too`));
  }
  return errors.length > 0 ? t.failures(errors) : t.success(items);
}

/** A list whose items are separated by commas in one text. Blanks around an item are ignored. */
export function commaSeparated<A>(item: t.Type<A, unknown, unknown>): t.Type<ReadonlyArray<A>, unknown, unknown> {
  const items = t.readonlyArray(item);
  return new t.Type<ReadonlyArray<A>, unknown, unknown>(
    `${item.name}, ...`,
    items.is,
    (value, context) =>
      typeof value === 'string'
        ? items.validate(
            value.split(',').map((one) => one.trim()),
            context,
          )
        : t.failure(value, context, 'must be a string'),
    items.encode,
  );
}
