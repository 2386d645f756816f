import * as E from 'fp-ts/lib/Either.js';
import { invalidInput } from '#application/operations/input-errors.ts';
import type { Failure } from '#domain/shared/failure.ts';
import type { JsonObject } from '#shared/json/json.ts';

/**
 * The members of an input that a query string gives, as texts. Others are ignored.
 * @returns invalid-input when one is given twice
 */
export function readQueryParameters(query: string, known: ReadonlySet<string>): E.Either<Failure, JsonObject> {
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (!known.has(name)) continue;
    if (fields.has(name)) return E.left(invalidInput([{ pointer: `/${name}`, message: 'must be given once' }]));
    fields.set(name, value);
  }
  return E.right(Object.fromEntries(fields));
}
