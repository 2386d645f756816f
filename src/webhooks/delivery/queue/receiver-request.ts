import type { IncomingHttpHeaders } from 'node:http';
import { parseRetryAfter } from '#shared/http/retry-after.ts';

/** What a receiver asks for by the answer with which it refuses a message. */
export interface ReceiverRequest {
  /** It wants no more messages, ever: 410. */
  readonly isGone: boolean;
  /** It wants the message not before so many ms have passed; null where it does not say. */
  readonly retryAfterMs: number | null;
  /** It wants no other message before that either: 429 and 503. */
  readonly isForAll: boolean;
}

/** Reads what a receiver asks for, as Standard Webhooks recommends. @param now in ms since 1970 */
export function requestIn(status: number, headers: IncomingHttpHeaders, now: number): ReceiverRequest {
  return {
    isGone: status === 410,
    retryAfterMs: parseRetryAfter(headers, now),
    isForAll: status === 429 || status === 503,
  };
}
