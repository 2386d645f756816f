import type { IncomingHttpHeaders } from 'node:http';
import { parseRetryAfter } from '#shared/http/retry-after.ts';

/** What a receiver asks for when it refuses a message. */
export interface ReceiverRequest {
  /** It wants no more messages, ever: 410. */
  readonly isGone: boolean;
  /** How long to wait before the next try, in ms; null if the answer does not say. */
  readonly retryAfterMs: number | null;
  /** Whether all other messages must wait too: 429 and 503. */
  readonly isForAll: boolean;
}

/** Reads what a receiver asks for, as Standard Webhooks recommends. @param now in ms since 1970 */
export function readReceiverRequest(status: number, headers: IncomingHttpHeaders, now: number): ReceiverRequest {
  return {
    isGone: status === 410,
    retryAfterMs: parseRetryAfter(headers, now),
    isForAll: status === 429 || status === 503,
  };
}
