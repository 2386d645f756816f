import type { AppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import { noStream } from '#event-store/event-store.ts';
import { callFailure, isDeleted, isRefusal, trailerOf } from '#event-store/eventstoredb/connection/call-failure.ts';
import { causeOf } from '#event-store/eventstoredb/connection/unavailable-cause.ts';
import { positionOf } from '#event-store/eventstoredb/wire/event-message.ts';

/** The outcome of one attempt of an append. */
export type Attempt =
  /** `position` is null if the server does not report it, because a later delete hides the events. */
  | { readonly kind: 'stored'; readonly revision: number; readonly position: number | null }
  /** Not stored by this attempt. */
  | { readonly kind: 'conflict'; readonly actualRevision: number }
  /** Not stored: the server's own limit is lower than ours. */
  | { readonly kind: 'too-large'; readonly maxBytes: number }
  /** Not stored, and never will be, because the stream was closed for ever (tombstoned). */
  | { readonly kind: 'stream-deleted' }
  /** Not stored until a person changes something. `reason` contains no addresses. */
  | { readonly kind: 'refused'; readonly detail: string; readonly reason: string }
  /** No answer. It may have been stored. */
  | { readonly kind: 'lost'; readonly detail: string };

/**
 * Reads the server's answer.
 * @throws RangeError for a position that is too large
 */
export function attemptOf(answer: AppendResp): Attempt {
  const conflict = answer.getWrongExpectedVersion();
  if (conflict !== undefined) {
    const actualRevision = conflict.hasCurrentRevision() ? Number(conflict.getCurrentRevision()) : noStream;
    return { kind: 'conflict', actualRevision };
  }
  const success = answer.getSuccess();
  if (success === undefined) return { kind: 'lost', detail: 'The answer says nothing.' };
  const position = success.getPosition();
  return {
    kind: 'stored',
    revision: success.hasCurrentRevision() ? Number(success.getCurrentRevision()) : noStream,
    position: position === undefined ? null : positionOf(position),
  };
}

/** Reads a failed call. Unless it was refused, the append may have been stored. */
export function failedAttemptOf(error: unknown): Attempt {
  const failure = callFailure(error);
  if (isDeleted(failure)) return { kind: 'stream-deleted' };
  if (failure.exception === 'maximum-append-size-exceeded')
    return { kind: 'too-large', maxBytes: Number(trailerOf(error, 'maximum-append-size')) };
  if (isRefusal(failure)) return { kind: 'refused', detail: failure.detail, reason: causeOf(error).detail };
  return { kind: 'lost', detail: failure.detail };
}
