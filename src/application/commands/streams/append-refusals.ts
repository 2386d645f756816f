import { type Failure, failure } from '#domain/shared/failure.ts';
import type { AppendFailure } from '#event-store/event-store.ts';

/** The refusal of a change with more bytes than one append may have. */
export function appendTooLarge(bytes: number, maxBytes: number): Failure {
  return failure(
    'append-too-large',
    `The change would store ${bytes} bytes; ${maxBytes} are allowed. Send a smaller one.`,
  );
}

/** The failure if the event store refuses an append for a reason other than a conflict. */
export function appendRefused(refused: Exclude<AppendFailure, { kind: 'conflict' }>): Failure {
  switch (refused.kind) {
    case 'append-too-large':
      return appendTooLarge(refused.bytes, refused.maxBytes);
    case 'unavailable':
      return failure('unavailable', `The event store cannot store the change now: ${refused.detail}`, {
        retryAfterSeconds: refused.retryAfterSeconds,
      });
  }
}
