import type { IncomingHttpHeaders } from 'node:http';
import { type ErrorObject, errorCode, errorType, gatewayError } from '#application/responses/openai-error.ts';
import { type Failure, failure, gatewayStatus } from '#domain/failure.ts';
import type { JsonObject } from '#src/json.ts';
import { type ProviderError, providerErrorIn } from './chat-event.ts';
import type { Timeouts } from './configuration.ts';
import { contentOf } from './content-encoding.ts';
import { isErrorType } from './error-type.ts';
import { isObject, parsedJson } from './json-value.ts';
import { providerRequestIdIn } from './provider-request-id.ts';
import type { SecretRedactor } from './secret-redactor.ts';

/** A limit that ran out: `firstContent`, … */
export type TimeoutName = keyof Timeouts extends `${infer Name}Ms` ? Name : never;

const noBytes = Buffer.alloc(0);

/** How an attempt at a target failed. */
export type AttemptFailure =
  | { readonly kind: 'limit'; readonly limit: TimeoutName }
  /**
   * `unreachable`: no connection. `reset`: it broke. `malformed`: the answer cannot be read. `unfinished`: it ended
   * early. `too-large`: it is more than is held.
   */
  | { readonly kind: 'broken'; readonly how: 'unreachable' | 'reset' | 'malformed' | 'unfinished' | 'too-large' }
  | ProviderRefusal;

/** The provider said no: by its status, or by an error inside an answer that began as a success. */
export interface ProviderRefusal {
  readonly kind: 'refused';
  readonly status: number;
  readonly error: ProviderError | null;
  /** As it came, decompressed; null for an error inside a stream. */
  readonly body: Buffer | null;
  readonly retryAfterMs: number | null;
  readonly shouldRetry: string | null;
  /** The provider's own id of the request; null where it gave none. */
  readonly requestId: string | null;
}

/** An answer that cannot be read. */
export const malformed: AttemptFailure = { kind: 'broken', how: 'malformed' };

/** The bytes of a refusal that are looked at. */
export const maxRefusalBytes = 1024 * 1024;

/** Reads a refusal. @param sent what came of it, `refusalBytesAtMost` at most */
export function parseRefusal(status: number, headers: IncomingHttpHeaders, sent: Buffer): ProviderRefusal {
  const body = contentOf(headers, sent, maxRefusalBytes) ?? noBytes;
  const value = parsedJson(body);
  const error = isObject(value) ? providerErrorIn(value) : null;
  const shouldRetry = headers['x-should-retry'];
  return {
    kind: 'refused',
    status,
    error,
    body,
    retryAfterMs: parseRetryAfter(headers, Date.now()),
    shouldRetry: shouldRetry === 'true' || shouldRetry === 'false' ? shouldRetry : null,
    requestId: providerRequestIdIn(headers),
  };
}

/** The refusal that an error inside an answer of status 200 is. */
export function refusalInBody(error: ProviderError): ProviderRefusal {
  const none = { body: null, retryAfterMs: null, shouldRetry: null, requestId: null };
  return { kind: 'refused', status: statusOf(error), error, ...none };
}

/** A refusal without what is the operator's secret: a provider may echo the headers that it was sent. */
export function redactRefusal(refused: ProviderRefusal, redactor: SecretRedactor): ProviderRefusal {
  const { error, body, requestId } = refused;
  const redact = (text: string | null) => (text === null ? null : redactor.redact(text));
  return {
    ...refused,
    error:
      error === null
        ? null
        : {
            message: redactor.redact(error.message),
            type: redact(error.type),
            code: redact(error.code),
            param: redact(error.param),
          },
    body: body === null ? null : redactor.redactBody(body),
    requestId: redact(requestId),
  };
}

/** Which limit a refusal falls under: what may be tried again, and where. */
export type RefusalClass =
  /** The target may take it later. */
  | 'busy'
  /** The operator's trouble: this target will not take it. */
  | 'operator'
  /** Too long for this model: another may have more room. */
  | 'context-length'
  /** The request's own trouble, wherever it goes. */
  | 'request'
  | 'server';

export function classifyRefusal({ status, error }: ProviderRefusal): RefusalClass {
  if (status === 429 || status === 408 || status === 409 || status === 425) return 'busy';
  if (status === 401 || status === 403) return error !== null && isContentPolicy(error) ? 'request' : 'operator';
  if (status >= 500) return 'server';
  if (status < 400) return 'server';
  return error !== null && isContextLength(error) ? 'context-length' : 'request';
}

const contextLength =
  /context[_ ](?:length|window)|maximum (?:context|prompt|input)|(?:prompt|input) is too long|too many (?:input )?tokens|exceeds? the (?:model'?s )?(?:maximum|context)/i;

function isContextLength({ code, message }: ProviderError): boolean {
  return code === 'context_length_exceeded' || contextLength.test(message);
}

function isContentPolicy({ code, type }: ProviderError): boolean {
  return [code, type].some((text) => text !== null && /content[_ ]?(?:policy|filter)|responsibleai/i.test(text));
}

/** The status that an error without one would have had. */
function statusOf(error: ProviderError): number {
  const { code, type } = error;
  const number = Number(code);
  if (Number.isInteger(number) && number >= 400 && number < 600) return number;
  const said = `${code ?? ''} ${type ?? ''}`;
  if (/rate_?limit|too_many|quota|overloaded/i.test(said)) return /overloaded/i.test(said) ? 503 : 429;
  if (/authentication|permission|api_key/i.test(said)) return 401;
  if (isContextLength(error) || isContentPolicy(error) || /invalid_request/i.test(said)) return 400;
  return 502;
}

/** What a client is told where nothing is left to be tried. */
export interface ErrorResponse {
  readonly status: number;
  /** The body; where a provider's own is handed on, its bytes as they came. */
  readonly body: string | Buffer;
  readonly contentType: string;
  readonly retryAfterMs: number | null;
  readonly shouldRetry: string | null;
  readonly code: string | null;
}

/** Makes of the failure of the last attempt what the client is told. */
export function errorResponseFor(failed: AttemptFailure): ErrorResponse {
  const isHandedOn =
    failed.kind === 'refused' && failed.status >= 400 && failed.status < 500 && classifyRefusal(failed) !== 'operator';
  return isHandedOn ? forwardedErrorResponse(failed) : gatewayErrorResponse(failureOf(failed));
}

/** A failure of the gateway's own as a client is told it. */
export function gatewayErrorResponse(failed: Failure): ErrorResponse {
  const { retryAfterSeconds } = failed;
  return {
    status: gatewayStatus(failed.code),
    body: JSON.stringify(gatewayError(failed, 'body')),
    contentType: 'application/json',
    retryAfterMs: retryAfterSeconds === undefined ? null : retryAfterSeconds * 1_000,
    shouldRetry: null,
    code: errorCode(failed.code),
  };
}

/** What failed in the middle of a stream: an error inside it in the provider's own words. */
export function errorInStream(failed: AttemptFailure): JsonObject {
  const isTold =
    failed.kind === 'refused' &&
    failed.error !== null &&
    classifyRefusal(failed) !== 'operator' &&
    (failed.body === null || failed.status < 500);
  return isTold ? { error: { ...errorObjectOf(failed) } } : gatewayError(failureOf(failed), 'body');
}

/** A provider's 4xx keeps its status and body; a body without an error is put into one. */
function forwardedErrorResponse(refused: ProviderRefusal): ErrorResponse {
  const { status, error, body, retryAfterMs, shouldRetry } = refused;
  const value = body === null ? undefined : parsedJson(body);
  const isAsRead = body !== null && isObject(value) && isObject(value.error);
  return {
    status,
    body: isAsRead ? body : JSON.stringify({ error: errorObjectOf(refused) }),
    contentType: 'application/json',
    retryAfterMs,
    shouldRetry,
    code: error?.code ?? 'provider_refused',
  };
}

/** How an attempt failed, by name, for records: the provider's own code, else the gateway's. Never a text. */
export function failureName(failed: AttemptFailure): string {
  if (failed.kind !== 'refused') return errorCode(failureOf(failed).code);
  const { error, status } = failed;
  return [error?.code, error?.type].find((name) => typeof name === 'string' && isErrorType(name)) ?? `http_${status}`;
}

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

/** What failed, in the gateway's own words. */
function failureOf(failed: AttemptFailure): Failure {
  switch (failed.kind) {
    case 'limit':
      return failure('provider-timeout', limitMessages[failed.limit]);
    case 'broken':
      return brokenFailure(failed.how);
    case 'refused':
      return refusedFailure(failed);
  }
}

const limitMessages: Readonly<Record<TimeoutName, string>> = {
  connect: 'The provider could not be reached in time.',
  headers: 'The provider did not begin to answer in time.',
  firstContent: 'The provider sent no content in time.',
  idle: 'The provider stopped sending in the middle of its answer.',
  total: 'The call took longer than it may take in all.',
};

function brokenFailure(how: Extract<AttemptFailure, { kind: 'broken' }>['how']): Failure {
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
      return failure('provider-too-large', 'The provider sent more than the gateway holds.');
  }
}

function refusedFailure({ status, retryAfterMs }: ProviderRefusal): Failure {
  if (status === 401 || status === 403) {
    const told = 'The provider does not take the key that the gateway has for it. Tell the operator.';
    return failure('provider-key-refused', told);
  }
  const wait = retryAfterMs === null ? {} : { retryAfterSeconds: Math.ceil(retryAfterMs / 1_000) };
  if (status === 503 || status === 529) {
    const told = 'The provider is overloaded or down. Try again later.';
    return failure('provider-overloaded', told, { retryAfterSeconds: 1, ...wait });
  }
  if (status === 504) return failure('provider-timeout', 'The provider ran out of time.', wait);
  return failure('provider-failed', `The provider failed with status ${status}.`, wait);
}

const longestRetryAfterMs = 24 * 60 * 60 * 1_000;

/** How long to wait, from `retry-after-ms` before `Retry-After` (seconds or a date). @param now in ms of the epoch */
export function parseRetryAfter(headers: IncomingHttpHeaders, now: number): number | null {
  const exact = headers['retry-after-ms'];
  if (typeof exact === 'string' && /^\d+(?:\.\d+)?$/.test(exact.trim())) return bounded(Number(exact));
  const header = headers['retry-after']?.trim();
  if (header === undefined || header === '') return null;
  if (/^\d+(?:\.\d+)?$/.test(header)) return bounded(Number(header) * 1_000);
  // Date.parse makes a date of much that is none.
  const date = /\d:\d\d:\d\d/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? null : bounded(date - now);
}

function bounded(milliseconds: number): number {
  return Math.min(longestRetryAfterMs, Math.max(0, Math.ceil(milliseconds)));
}
