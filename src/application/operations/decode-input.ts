import * as E from 'fp-ts/lib/Either.js';
import type * as t from 'io-ts';
import type { Failure, InputError } from '#domain/shared/failure.ts';
import { inputErrors, invalidInput, maxInputErrors } from '#exchange/input-errors.ts';
import type { JsonObject } from '#shared/json/json.ts';

/**
 * Decodes an operation's input, or fails with every error and its place.
 * @param unknown the faults of members that the codec ignores and the request wants refused
 */
export function decodeInput<A>(
  codec: t.Type<A, unknown, unknown>,
  fields: JsonObject,
  unknown: ReadonlyArray<InputError> = [],
): E.Either<Failure, A> {
  const decoded = codec.decode(fields);
  if (E.isRight(decoded) && unknown.length === 0) return decoded;
  const errors = E.isLeft(decoded) ? inputErrors(decoded.left) : [];
  return E.left(invalidInput([...errors, ...unknown].slice(0, maxInputErrors)));
}
