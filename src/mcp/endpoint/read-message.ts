import * as E from 'fp-ts/lib/Either.js';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';

export interface ClientMessage {
  /** The message without the arguments of a tool. */
  readonly message: JsonObject;
  readonly toolArguments: JsonObject;
}

/** Maximum number of values without the arguments of a tool: the official server copies them all in one turn. */
const maxValues = 2_000;

/** Takes the arguments of a tool out of a message. @returns too-many-values for a message with too many other values */
export function readMessage(given: JsonObject): E.Either<Failure, ClientMessage> {
  const read = withoutArguments(given);
  return valuesLeft(read.message, maxValues) < 0 ? E.left(tooManyValues) : E.right(read);
}

const tooManyValues = failure(
  'too-many-values',
  `The message has more than ${maxValues} values, without the arguments of a tool.`,
);

function withoutArguments(given: JsonObject): ClientMessage {
  const { method, params } = given;
  if (method !== 'tools/call' || !isObject(params) || !isObject(params.arguments)) {
    return { message: given, toolArguments: {} };
  }
  return { message: { ...given, params: { ...params, arguments: {} } }, toolArguments: params.arguments };
}

/** @returns a negative number when there are more than these */
function valuesLeft(value: Json | undefined, most: number): number {
  let left = most - 1;
  if (typeof value !== 'object' || value === null) return left;
  for (const name in value) {
    if (left < 0) return left;
    left = valuesLeft((value as JsonObject)[name], left);
  }
  return left;
}
