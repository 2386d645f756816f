import { type Failure, failures } from '#domain/failure.ts';
import type { Plane } from '#operations/operation.ts';
import type { Json, JsonObject } from '#src/json.ts';

/** Where the page about a failure stands: `/docs/problems#flow-not-found`. */
export const problemsPath = '/docs/problems';

/** The answer to a failure. */
export interface ErrorAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: JsonObject;
  readonly retryAfterSeconds: number | null;
}

/** What an error says of the request that it answers. */
export interface Refused {
  readonly plane: Plane;
  readonly requestId: string;
  /** The path as requested, without its query. */
  readonly path: string;
  /** Whether the input came from a body: else from the query. */
  readonly hasBody: boolean;
}

/** Answers a failure in the shape of its plane: problem details (RFC 9457), or what OpenAI's clients read. */
export function errorAnswer(failure: Failure, refused: Refused): ErrorAnswer {
  const { status } = failures[failure.code];
  const retriable = status === 429 || status === 503 || failure.retryAfterSeconds !== undefined;
  return {
    status,
    contentType: refused.plane === 'control' ? 'application/problem+json' : 'application/json',
    body: refused.plane === 'control' ? problem(failure, refused) : gatewayError(failure, status, refused.hasBody),
    retryAfterSeconds: retriable ? Math.max(1, Math.ceil(failure.retryAfterSeconds ?? 1)) : null,
  };
}

function problem(failure: Failure, { path, requestId }: Refused): JsonObject {
  const { status, title } = failures[failure.code];
  return {
    type: `${problemsPath}#${failure.code}`,
    title,
    status,
    detail: failure.detail,
    instance: path,
    code: failure.code,
    requestId,
    ...(failure.errors === undefined
      ? {}
      : { errors: failure.errors.map(({ pointer, message }) => ({ pointer, message })) }),
  };
}

function gatewayError(failure: Failure, status: number, hasBody: boolean): JsonObject {
  const keys = (failure.errors ?? []).map((error) => keysOf(error.pointer));
  const first = keys[0] ?? [];
  const error = {
    message: failure.detail,
    type: gatewayType(status),
    param: first.length > 0 ? first.join('.') : null,
    code: failure.code,
  };
  if (status !== 422) return { error };
  const place = hasBody ? 'body' : 'query';
  const detail: Json[] = (failure.errors ?? []).map(({ message }, index) => ({
    loc: [place, ...(keys[index] ?? [])],
    msg: message,
    type: message === 'is required' ? 'missing' : 'value_error',
  }));
  return { detail: detail.length > 0 ? detail : [{ loc: [place], msg: failure.detail, type: failure.code }], error };
}

function gatewayType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

/** The keys of a JSON pointer; indexes of arrays as numbers. */
function keysOf(pointer: string): ReadonlyArray<string | number> {
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((key) => (/^(?:0|[1-9]\d{0,8})$/.test(key) ? Number(key) : key));
}
