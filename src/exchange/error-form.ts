import { gatewayStatus } from '#domain/failures.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import {
  anthropicError,
  anthropicErrorType,
  anthropicMessage,
  promptTooLong,
  saysPromptTooLong,
} from './anthropic-error.ts';
import { contextLengthCode, type ErrorObject, gatewayError } from './openai-error.ts';

/** How the clients of a protocol read errors. */
export interface ErrorForm {
  readonly name: 'openai' | 'anthropic';
  readonly statusOf: (failure: Failure) => number;
  /** @param place the part of the request that has the input */
  readonly ofFailure: (failure: Failure, requestId: string, place: 'body' | 'query') => JsonObject;
  readonly ofProvider: (error: ErrorObject, status: number, requestId: string) => JsonObject;
  /** Whether a provider's body has this form already. */
  readonly isOwn: (body: Json) => boolean;
  /** The server-sent event that reports an error inside a stream. */
  readonly event: (error: JsonObject) => string;
  /** Another header with the request's id, which clients of the protocol read. */
  readonly requestIdHeader: string | null;
}

/** https://platform.openai.com/docs/guides/error-codes/api-errors */
export const openAiErrors: ErrorForm = {
  name: 'openai',
  statusOf: ({ code }) => gatewayStatus(code),
  ofFailure: (failure, _requestId, place) => gatewayError(failure, place),
  ofProvider: (error) => ({ error: { ...error } }),
  isOwn: (body) => isObject(body) && isObject(body.error) && !isAnthropics(body),
  event: (error) => `data: ${JSON.stringify(error)}\n\n`,
  requestIdHeader: null,
};

/** The errors of `/v1/responses`, where clients expect 400 for invalid input. */
export const openAiResponsesErrors: ErrorForm = { ...openAiErrors, statusOf: statusWithout422 };

/** https://docs.anthropic.com/en/api/errors */
export const anthropicErrors: ErrorForm = {
  name: 'anthropic',
  statusOf: statusWithout422,
  ofFailure: (failure, requestId) =>
    anthropicError(anthropicErrorType(statusWithout422(failure)), anthropicMessage(failure), requestId),
  ofProvider: ({ message, code }, status, requestId) =>
    code === contextLengthCode
      ? anthropicError(anthropicErrorType(400), messageOfTooLong(message), requestId)
      : anthropicError(anthropicErrorType(status), message, requestId),
  isOwn: (body) => isObject(body) && isAnthropics(body),
  event: (error) => `event: error\ndata: ${JSON.stringify(error)}\n\n`,
  requestIdHeader: 'request-id',
};

function messageOfTooLong(message: string): string {
  return saysPromptTooLong(message) ? message : promptTooLong + message;
}

/** The status for clients that expect 400 for invalid input. */
function statusWithout422({ code }: Failure): number {
  const status = gatewayStatus(code);
  return status === 422 ? 400 : status;
}

function isAnthropics(body: JsonObject): boolean {
  return (
    body.type === 'error' && isObject(body.error) && typeof body.error.type === 'string' && !('code' in body.error)
  );
}
