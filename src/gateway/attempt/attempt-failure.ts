import type { IncomingHttpHeaders } from 'node:http';
import type { Failure } from '#domain/shared/failure.ts';
import { answersFull } from '#exchange/byte-budget.ts';
import { maxErrorValues, parseForeign, withoutByteOrderMark } from '#gateway/framing/foreign-json.ts';
import { type ProviderError, providerErrorIn } from '#gateway/neutral/provider-report.ts';
import type { SecretRedactor } from '#gateway/providers/secret-redactor.ts';
import type { Timeouts } from '#gateway/transport/timeouts.ts';
import { contentOf, providerRequestIdIn } from '#gateway/transport/transport.ts';
import { parseRetryAfter } from '#shared/http/retry-after.ts';
import { isObject, type Json } from '#shared/json/json.ts';
import { isContextLength, withContextLengthCode } from './context-length.ts';

/** Such as `firstContent`. */
export type TimeoutName = Exclude<keyof Timeouts, 'earlyHeadMs'> extends `${infer Name}Ms` ? Name : never;

const noBytes = Buffer.alloc(0);

export type AttemptFailure =
  | { readonly kind: 'limit'; readonly limit: TimeoutName }
  /**
   * `unreachable`: no connection. `reset`: the connection broke. `malformed`: the answer cannot be read. `unfinished`:
   * the answer ended early. `too-large`: the answer exceeds the limit.
   */
  | {
      readonly kind: 'broken';
      readonly how: 'unreachable' | 'reset' | 'malformed' | 'unfinished' | 'too-large';
      /** The error of the gateway's own code that read it; missing without one. */
      readonly thrown?: unknown;
      /** Which limit it exceeds; missing for the usual text. */
      readonly detail?: string;
    }
  /** This node could not take the answer: the target has not failed. */
  | { readonly kind: 'here'; readonly failure: Failure }
  | ProviderRefusal;

/** A refusal by the provider: by its status, or by an error inside an answer that began as a success. */
export interface ProviderRefusal {
  readonly kind: 'refused';
  readonly status: number;
  readonly error: ProviderError | null;
  /** The unchanged, decompressed body; null for an error inside a stream. */
  readonly body: Buffer | null;
  readonly retryAfterMs: number | null;
  readonly shouldRetry: string | null;
  /** The provider's own id; null without one. */
  readonly requestId: string | null;
}

export const malformed: AttemptFailure & { readonly kind: 'broken' } = { kind: 'broken', how: 'malformed' };
/** The failure of an answer that cannot be read. The error must not leave its handler. */
export function unreadable(thrown: unknown): AttemptFailure {
  return { ...malformed, thrown };
}

export const unfinished: AttemptFailure = { kind: 'broken', how: 'unfinished' };
export const tooLarge: AttemptFailure = { kind: 'broken', how: 'too-large' };

/** The failure of an event that must be held, and is larger than that. */
export function tooLargeEvent(maxBytes: number): AttemptFailure {
  const limit = `${maxBytes} bytes, which the answers of a project may take (MAX_ANSWER_BYTES_IN_FLIGHT_PER_PROJECT)`;
  const detail = `An event of the provider’s stream has more than ${limit}. Ask for less at a time.`;
  return { kind: 'broken', how: 'too-large', detail };
}

/** The failure of an answer for which the node has no room. */
export const noRoom: AttemptFailure = { kind: 'here', failure: answersFull };

export const maxRefusalBytes = 1024 * 1024;

/** @param sent its body, at most `maxRefusalBytes` */
export function parseRefusal(status: number, headers: IncomingHttpHeaders, sent: Buffer): ProviderRefusal {
  const body = withoutByteOrderMark(contentOf(headers, sent, maxRefusalBytes) ?? noBytes);
  const shouldRetry = headers['x-should-retry'];
  return withKnownCode({
    kind: 'refused',
    status,
    error: errorIn(body),
    body,
    retryAfterMs: parseRetryAfter(headers, Date.now()),
    shouldRetry: shouldRetry === 'true' || shouldRetry === 'false' ? shouldRetry : null,
    requestId: providerRequestIdIn(headers),
  });
}

function errorIn(body: Buffer): ProviderError | null {
  const parsed = parseForeign(body, maxErrorValues);
  // Gemini's endpoint for clients of OpenAI puts an error into a list.
  const value = Array.isArray(parsed) ? parsed[0] : parsed;
  const error = isObject(value) ? providerErrorIn(value) : null;
  return error ?? tooLongIn(isObject(value) ? value.message : undefined) ?? tooLongIn(body.toString('utf8'));
}

/** Reads an error without a form, such as Bedrock's `{"message": "…"}`. */
function tooLongIn(message: Json | undefined): ProviderError | null {
  const error = { message: typeof message === 'string' ? message.trim() : '', type: null, code: null, param: null };
  return isContextLength(error) ? error : null;
}

function withKnownCode(refused: ProviderRefusal): ProviderRefusal {
  const { error, status } = refused;
  if (error === null) return refused;
  // No later try changes it, although older releases of llama.cpp call it an error of the server.
  if (status === 500 && isContextLength(error)) return withKnownCode({ ...refused, status: 400, body: null });
  const isTooLong = classifyRefusal(refused) === 'context-length';
  return isTooLong ? { ...refused, error: withContextLengthCode(error) } : refused;
}

export function refusalInBody(error: ProviderError): ProviderRefusal {
  const none = { body: null, retryAfterMs: null, shouldRetry: null, requestId: null };
  return withKnownCode({ kind: 'refused', status: statusOf(error), error: boundedError(error), ...none });
}

/** Maximum characters of a text of an error inside an answer, which may be as large as the answer. */
const maxTextLength = 64 * 1024;

function boundedError({ message, type, code, param }: ProviderError): ProviderError {
  const bounded = (text: string | null) => text?.slice(0, maxTextLength) ?? null;
  return { message: message.slice(0, maxTextLength), type: bounded(type), code: bounded(code), param: bounded(param) };
}

/** Removes secrets: a provider may echo the headers of the request. */
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

/** What a refusal means, which decides whether and where the call is retried. */
export type RefusalClass =
  /** The target may serve it later. */
  | 'busy'
  /** The operator's problem, such as an invalid key: this target cannot serve the call. */
  | 'operator'
  /** The target does not have what the request needs, and will not have it later. Another may. */
  | 'unsupported'
  /** The request is too long for this model; another may have a larger context. */
  | 'context-length'
  /** The request is invalid for every target. */
  | 'request'
  | 'server';

export function classifyRefusal({ status, error }: ProviderRefusal): RefusalClass {
  if (status === 429 || status === 408 || status === 409 || status === 425) return 'busy';
  if (status === 401 || status === 403) return error !== null && isContentPolicy(error) ? 'request' : 'operator';
  if (status === 501) return 'unsupported';
  if (status >= 500) return 'server';
  if (status < 400) return 'server';
  return error !== null && isContextLength(error) ? 'context-length' : 'request';
}

export function isRefusedFor(failure: AttemptFailure, refusal: RefusalClass): boolean {
  return failure.kind === 'refused' && classifyRefusal(failure) === refusal;
}

function isContentPolicy({ code, type }: ProviderError): boolean {
  return [code, type].some((text) => text !== null && /content[_ ]?(?:policy|filter)|responsibleai/i.test(text));
}

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

/** OpenTelemetry's value for an error without a name. */
export const otherErrorType = '_OTHER';

/** The form of names that are recorded. Anything else may contain a client's text. */
const name = /^[\w.-]{1,64}$/;

export function isErrorType(text: string): boolean {
  return name.test(text);
}
