import { type Failure, failure } from '#domain/shared/failure.ts';
import type { Client } from '#exchange/client.ts';
import type { ErrorForm } from '#exchange/error-form.ts';
import { type ErrorObject, errorCode, errorType } from '#exchange/openai-error.ts';
import {
  type AttemptFailure,
  classifyRefusal,
  isErrorType,
  isRefusedFor,
  type ProviderRefusal,
  type TimeoutName,
} from '#gateway/attempt/attempt-failure.ts';
import { maxErrorValues, parseForeign, tooLargeJson } from '#gateway/framing/foreign-json.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { withContextLength } from './context-length-body.ts';

export interface RefusedCall {
  readonly errors: ErrorForm;
  readonly id: string;
}

/** The response that is sent when no attempt is left. */
export interface ErrorResponse {
  readonly status: number;
  /** The body. A provider's own is passed on unchanged. */
  readonly body: string | Buffer;
  readonly contentType: string;
  readonly retryAfterMs: number | null;
  readonly shouldRetry: string | null;
  readonly code: string | null;
}

/** The response: the provider's own 4xx, or an error of the gateway. */
export function errorResponseFor(failed: AttemptFailure, call: RefusedCall): ErrorResponse {
  const isForwarded =
    failed.kind === 'refused' && failed.status >= 400 && failed.status < 500 && classifyRefusal(failed) !== 'operator';
  return isForwarded ? forwardedErrorResponse(failed, call) : gatewayErrorResponse(failureOf(failed), call);
}

/**
 * The response after the last try of a call. A client that repeated it would multiply the tries, so `x-should-retry` is
 * false.
 * @param isLeftToClient the gateway has not retried, so that the client may. Then the provider's own header is passed
 * on
 */
export function finalErrorResponse(failed: AttemptFailure, isLeftToClient: boolean, call: RefusedCall): ErrorResponse {
  const response = errorResponseFor(failed, call);
  const retryAfterMs = response.retryAfterMs ?? (response.status === 429 ? defaultRetryAfterMs : null);
  return { ...response, retryAfterMs, shouldRetry: isLeftToClient ? response.shouldRetry : 'false' };
}

const defaultRetryAfterMs = 1_000;

export function gatewayErrorResponse(failed: Failure, { errors, id }: RefusedCall): ErrorResponse {
  const { retryAfterSeconds } = failed;
  return {
    status: errors.statusOf(failed),
    body: JSON.stringify(errors.ofFailure(failed, id, 'body')),
    contentType: 'application/json',
    retryAfterMs: retryAfterSeconds === undefined ? null : retryAfterSeconds * 1_000,
    shouldRetry: null,
    code: errorCode(failed.code),
  };
}

export function errorEvent(failed: AttemptFailure, call: RefusedCall): string {
  return call.errors.event(errorOf(failed, call));
}

/** The error inside a stream. One of the provider keeps its text. */
export function errorOf(failed: AttemptFailure, { errors, id }: RefusedCall): JsonObject {
  const isProvidersOwn =
    failed.kind === 'refused' &&
    failed.error !== null &&
    classifyRefusal(failed) !== 'operator' &&
    (failed.body === null || failed.status < 500);
  return isProvidersOwn
    ? errors.ofProvider(errorObjectOf(failed), failed.status, id)
    : errors.ofFailure(failureOf(failed), id, 'body');
}

/**
 * A provider's 4xx keeps its status and body. A body without an error is wrapped in one. An error of too long a context
 * that is written here has the status of OpenAI and Anthropic: Claude Code takes 413 for too large a body.
 */
function forwardedErrorResponse(refused: ProviderRefusal, { errors, id }: RefusedCall): ErrorResponse {
  const { error, retryAfterMs, shouldRetry } = refused;
  // It is logged, so it must be a name.
  const code = error?.code ?? '';
  const own = ownBodyOf(refused, errors);
  const status = own === null && isRefusedFor(refused, 'context-length') ? 400 : refused.status;
  return {
    status,
    body: own ?? JSON.stringify(errors.ofProvider(errorObjectOf(refused), status, id)),
    contentType: 'application/json',
    retryAfterMs,
    shouldRetry,
    code: isErrorType(code) ? code : 'provider_refused',
  };
}

/** The provider's body with what clients of the protocol look for; null for a body in any other form. */
function ownBodyOf(refused: ProviderRefusal, errors: ErrorForm): Buffer | null {
  const { body } = refused;
  const value = body === null ? undefined : parseForeign(body, maxErrorValues);
  if (body === null || value === undefined || value === tooLargeJson || !errors.isOwn(value)) return null;
  return isRefusedFor(refused, 'context-length') ? withContextLength(body, errors) : body;
}

/** The name for records: the provider's code, or else the gateway's. It is never a free text. */
export function failureName(failed: AttemptFailure): string {
  if (failed.kind !== 'refused') return errorCode(failureOf(failed).code);
  const { error, status } = failed;
  return [error?.code, error?.type].find((name) => typeof name === 'string' && isErrorType(name)) ?? `http_${status}`;
}

/** The gateway's own code. Nothing of what a provider wrote is in it. */
export function failureReason(failed: AttemptFailure): string {
  if (failed.kind !== 'refused') return errorCode(failureOf(failed).code);
  return refusalReasons[classifyRefusal(failed)] ?? errorCode(refusedFailure(failed).code);
}

const refusalReasons: Readonly<Partial<Record<ReturnType<typeof classifyRefusal>, string>>> = {
  busy: 'provider_busy',
  request: 'provider_refused',
  'context-length': 'context_length_exceeded',
};

function errorObjectOf({ status, error, body }: ProviderRefusal): ErrorObject {
  return {
    message: error?.message ?? textOf(body) ?? `The provider refused with status ${status}.`,
    type: error?.type ?? errorType(status),
    param: error?.param ?? null,
    code: error?.code ?? null,
  };
}

const maxForwardedTextLength = 2_000;

function textOf(body: Buffer | null): string | null {
  const text = body?.toString('utf8').trim() ?? '';
  return text === '' ? null : text.slice(0, maxForwardedTextLength);
}

function failureOf(failed: AttemptFailure): Failure {
  switch (failed.kind) {
    case 'limit':
      return failure('provider-timeout', limitMessages[failed.limit]);
    case 'broken':
      return brokenFailure(failed);
    case 'here':
      return failed.failure;
    case 'refused':
      return refusedFailure(failed);
  }
}

const limitMessages: Readonly<Record<TimeoutName, string>> = {
  connect: 'The provider could not be reached in time.',
  headers: 'The provider did not begin to answer in time.',
  firstContent: 'The provider sent no content in time.',
  idle: 'The provider stopped sending in the middle of its answer.',
  total: 'The call took longer than its total time limit.',
};

function brokenFailure({ how, detail }: Extract<AttemptFailure, { kind: 'broken' }>): Failure {
  switch (how) {
    case 'unreachable':
      return failure('provider-unreachable', 'The provider cannot be reached. Try again later.', {
        retryAfterSeconds: 1,
      });
    case 'reset':
      return failure('provider-reset', 'The connection to the provider broke before its answer was complete.');
    case 'malformed':
      return failure('provider-malformed', 'The provider sent an answer that cannot be read.');
    case 'unfinished':
      return failure('provider-unfinished', 'The provider ended its answer before it was finished.');
    case 'too-large':
      return failure('provider-too-large', detail ?? 'The provider sent more than the gateway accepts.');
  }
}

function refusedFailure({ status, retryAfterMs }: ProviderRefusal): Failure {
  if (status === 401 || status === 403) {
    const detail = 'The provider refuses the key that the gateway has for it. Contact the operator.';
    return failure('provider-key-refused', detail);
  }
  const wait = retryAfterMs === null ? {} : { retryAfterSeconds: Math.ceil(retryAfterMs / 1_000) };
  if (status === 503 || status === 529) {
    const detail = 'The provider is overloaded or down. Try again later.';
    return failure('provider-overloaded', detail, { retryAfterSeconds: 1, ...wait });
  }
  if (status === 504) return failure('provider-timeout', 'The provider ran out of time.', wait);
  return failure('provider-failed', `The provider failed with status ${status}.`, wait);
}

/** @param headers alternating names and values */
export function sendError(sink: Client, error: ErrorResponse, headers: ReadonlyArray<string> = []): void {
  const { status, body, contentType, retryAfterMs, shouldRetry } = error;
  const all = ['Content-Type', contentType, ...headers];
  if (retryAfterMs !== null) {
    all.push('Retry-After', String(Math.max(1, Math.ceil(retryAfterMs / 1_000))));
    all.push('Retry-After-Ms', String(retryAfterMs));
  }
  if (shouldRetry !== null) all.push('X-Should-Retry', shouldRetry);
  sink.send(status, all, body);
}
