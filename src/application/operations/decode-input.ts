import * as E from 'fp-ts/lib/Either.js';
import type * as t from 'io-ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { inputErrors } from './input-errors.ts';

/** Decodes an operation's input, or tells every fault with its place. */
export function decodeInput<A>(codec: t.Type<A, unknown, unknown>, fields: JsonObject): E.Either<Failure, A> {
  const decoded = codec.decode(fields);
  if (E.isRight(decoded)) return decoded;
  const errors = inputErrors(decoded.left);
  const [first] = errors;
  const where = errors.length === 1 ? 'One member is' : `${errors.length} members are`;
  return E.left(
    failure('invalid-input', `${where} not valid: ${first?.pointer ?? ''} ${first?.message ?? ''}`.trim(), { errors }),
  );
}
