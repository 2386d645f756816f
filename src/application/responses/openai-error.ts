import { type Failure, type FailureCode, gatewayStatus, type InputError } from '#domain/shared/failure.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { keysOfPointer } from '#shared/json/json-pointer.ts';

/**
 * A failure as clients of OpenAI read it: `error` always, and beside it, for invalid input (422), the contract's
 * `detail`, which those clients do not look at.
 * @param place where the input came from
 */
export function gatewayError(failure: Failure, place: 'body' | 'query'): JsonObject {
  const error = { ...errorObject(failure) };
  if (gatewayStatus(failure.code) !== 422) return { error };
  const faults = failure.errors ?? [];
  const whole = { loc: [place], msg: failure.detail, type: error.code };
  return { detail: faults.length > 0 ? faults.map((fault) => detailOf(fault, place)) : [whole], error };
}

/** What clients of OpenAI read of a failure. */
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

function detailOf({ pointer, message, input }: InputError, place: string): Json {
  return {
    loc: [place, ...keysOf(pointer)],
    msg: message,
    type: message === 'is required' ? 'missing' : 'value_error',
    ...(input === undefined ? {} : { input }),
  };
}

/** What clients read of an error; all four members must be there. */
export interface ErrorObject {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

/** OpenAI's way to write it: `model_not_found`. */
export function errorCode(code: FailureCode): string {
  return code === 'malformed-json' || code === 'invalid-encoding' ? 'json_invalid' : code.replaceAll('-', '_');
}

/** OpenAI's kind of error for a status. */
export function errorType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

type Keys = ReadonlyArray<string | number>;

/** The keys of a JSON pointer; indexes of arrays as numbers. */
function keysOf(pointer: string): Keys {
  return keysOfPointer(pointer).map((key) => (/^(?:0|[1-9]\d{0,8})$/.test(key) ? Number(key) : key));
}

/** `messages[0].role` for its keys. */
function parameterOf(keys: Keys): string {
  return keys.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${key}`)).join('');
}
