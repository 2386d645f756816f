import type { ResponseSink } from '#exchange/response-sink.ts';
import type { ErrorResponse } from './error-response.ts';

/** Writes why a call has no answer. @param headers further ones, names and values in turn */
export function sendError(sink: ResponseSink, error: ErrorResponse, headers: ReadonlyArray<string> = []): void {
  const { status, body, contentType, retryAfterMs, shouldRetry } = error;
  const all = ['Content-Type', contentType, ...headers];
  if (retryAfterMs !== null) {
    all.push('Retry-After', String(Math.max(1, Math.ceil(retryAfterMs / 1_000))));
    all.push('Retry-After-Ms', String(retryAfterMs));
  }
  if (shouldRetry !== null) all.push('X-Should-Retry', shouldRetry);
  sink.send(status, all, body);
}
