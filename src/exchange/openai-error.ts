import { gatewayStatus } from '#domain/failures.ts';
import type { Failure, FailureCode, InputError } from '#domain/shared/failure.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { keysOfPointer } from '#shared/json/json-pointer.ts';

/**
 * The body of an error, which always has `error`. For invalid input (422) it also has the `detail` of the contract,
 * which those clients ignore.
 * @param place the part of the request that has the input
 */
export function gatewayError(failure: Failure, place: 'body' | 'query'): JsonObject {
  const error = { ...errorObject(failure) };
  if (gatewayStatus(failure.code) !== 422) return { error };
  const faults = failure.errors ?? [];
  const whole = { loc: [place], msg: failure.detail, type: error.code };
  return { detail: faults.length > 0 ? faults.map((fault) => detailOf(fault, place)) : [whole], error };
}

export function errorObject(failure: Failure): ErrorObject {
  const [first] = failure.errors ?? [];
  const param = first === undefined ? '' : parameterOf(keysOf(first.pointer));
  return {
    message: failure.detail,
    type: errorType(gatewayStatus(failure.code)),
    param: param === '' ? null : param,
    code: errorCode(failure.code),
  };
}

function detailOf({ pointer, parameter, message, input }: InputError, place: string): Json {
  return {
    loc: [parameter === undefined ? place : 'query', ...keysOf(pointer)],
    msg: message,
    type: message === 'is required' ? 'missing' : 'value_error',
    ...(input === undefined ? {} : { input }),
  };
}

/** An error with all four members, because clients need them. */
export interface ErrorObject {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

/**
 * The code for a request that is longer than the context of its model. Codex and OpenCode look for it before they shorten a
 * conversation (https://github.com/openai/codex/pull/4675).
 */
export const contextLengthCode = 'context_length_exceeded';

/** The code in OpenAI's form: `model_not_found`. */
export function errorCode(code: FailureCode): string {
  return code === 'malformed-json' || code === 'invalid-encoding' ? 'json_invalid' : code.replaceAll('-', '_');
}

export function errorType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

type Keys = ReadonlyArray<string | number>;

function keysOf(pointer: string): Keys {
  return keysOfPointer(pointer).map((key) => (/^(?:0|[1-9]\d{0,8})$/.test(key) ? Number(key) : key));
}

/** A text like `messages[0].role`. */
function parameterOf(keys: Keys): string {
  return keys.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${key}`)).join('');
}
