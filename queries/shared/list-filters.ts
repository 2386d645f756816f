import * as E from 'fp-ts/lib/Either.js';
import type * as t from 'io-ts';
import type { Failure } from '#domain/shared/failure.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import type { Where } from '#read-store/read-store.ts';
import { withJsonSchema } from '#shared/codecs/json-schema.ts';
import { text } from '#shared/codecs/text.ts';

/** Members of a list's items that begin an index, each with its codec. */
export type ListFilters = Readonly<Record<string, t.Mixed>>;

/** Selects the items with exactly this name. */
export const nameFilter = withJsonSchema(text({ min: 1, max: 200 }), {
  type: 'string',
  minLength: 1,
  maxLength: 200,
  description: 'Only items of exactly this name',
});

/** @param where without filters @returns invalid-input for two filters, because an index supports only one */
export function filteredBy(filters: ListFilters, input: object, where: Where): E.Either<Failure, Where> {
  const given = Object.entries(input).filter(([name, value]) => Object.hasOwn(filters, name) && value !== undefined);
  const [first, second] = given.map(([name]) => name);
  if (second === undefined) return E.right({ ...where, ...Object.fromEntries(given) });
  return E.left(invalidInput([{ pointer: `/${second}`, message: `cannot be given together with ${first}` }]));
}
