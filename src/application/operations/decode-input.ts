import * as E from 'fp-ts/lib/Either.js';
import type * as t from 'io-ts';
import type { Failure } from '#domain/shared/failure.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { inputErrors, invalidInput } from './input-errors.ts';

/** Decodes an operation's input, or fails with every error and its place. */
export function decodeInput<A>(codec: t.Type<A, unknown, unknown>, fields: JsonObject): E.Either<Failure, A> {
  const decoded = codec.decode(fields);
  if (E.isRight(decoded)) return decoded;
  return E.left(invalidInput(inputErrors(decoded.left)));
}
