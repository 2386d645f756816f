import { failures } from '#domain/failures.ts';
import type { Failure, InputError } from '#domain/shared/failure.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { type ErrorForm, openAiErrors } from './error-form.ts';
import { ofQueryParameters } from './input-errors.ts';
import { errorObject } from './openai-error.ts';
import type { Request } from './request.ts';

/** The path of the problems: `/docs/problems#flow-not-found`. */
export const problemsPath = '/docs/problems';

/**
 * The plane decides the form of errors (problem details for control, OpenAI's for the gateway), and which nodes answer:
 * those with the role `control-plane`, or `gateway`.
 */
export type Plane = 'control' | 'gateway';

export interface ProblemResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: JsonObject;
  readonly retryAfterSeconds: number | null;
}

export interface RefusedRequest {
  readonly plane: Plane;
  /** Whether clients of the gateway use it too. Problem details then also have `error`. */
  readonly onBothPlanes: boolean;
  readonly requestId: string;
  /** Default: OpenAI's. */
  readonly errorForm?: ErrorForm;
  /** The path as requested, without its query. */
  readonly path: string;
  /** Whether the input is in the body; otherwise it is in the query. */
  readonly hasBody: boolean;
}

/** Makes the response in the form of its plane: problem details (RFC 9457), or an error of a provider's form. */
export function createErrorResponse(refusal: Failure, refused: RefusedRequest): ProblemResponse {
  const failure = refused.hasBody ? refusal : ofQueryParameters(refusal);
  const onGateway = refused.plane === 'gateway';
  const { errorForm = openAiErrors, requestId } = refused;
  const status = onGateway ? errorForm.statusOf(failure) : failures[failure.code].status;
  const retriable = status === 429 || status === 503 || failure.retryAfterSeconds !== undefined;
  return {
    status,
    contentType: onGateway ? 'application/json' : 'application/problem+json',
    body: onGateway
      ? errorForm.ofFailure(failure, requestId, refused.hasBody ? 'body' : 'query')
      : problem(failure, refused),
    retryAfterSeconds: retriable ? Math.max(1, Math.ceil(failure.retryAfterSeconds ?? 1)) : null,
  };
}

function describeError({ pointer, parameter, message }: InputError): JsonObject {
  return parameter === undefined ? { pointer, message } : { pointer, parameter, message };
}

function problem(failure: Failure, { path, requestId, onBothPlanes }: RefusedRequest): JsonObject {
  const { status, title } = failures[failure.code];
  return {
    type: `${problemsPath}#${failure.code}`,
    title,
    status,
    detail: failure.detail,
    instance: path,
    code: failure.code,
    requestId,
    ...(failure.errors === undefined ? {} : { errors: failure.errors.map(describeError) }),
    ...(onBothPlanes ? { error: { ...errorObject(failure) } } : {}),
  };
}

/**
 * Sends a problem for an operation that writes its response itself. The answer has problem details, as for all other
 * operations.
 */
export function sendProblem(
  { client, id: requestId }: Pick<Request, 'id' | 'client'>,
  failure: Failure,
  path: string,
): void {
  const refused = { plane: 'control', onBothPlanes: false, requestId, path, hasBody: true } as const;
  const { status, contentType, body, retryAfterSeconds } = createErrorResponse(failure, refused);
  const headers = ['Content-Type', contentType, 'Cache-Control', 'no-store'];
  if (retryAfterSeconds !== null) headers.push('Retry-After', String(retryAfterSeconds));
  client.send(status, headers, JSON.stringify(body));
}
