import { type BatchState, isCancelling, lineScope } from '#domain/batch/batch.ts';
import type { BatchError, BatchEvents } from '#domain/batch/events.ts';
import type { Caller } from '#domain/shared/access.ts';

/** Not all lines were asked. */
export type EarlyOutcome = Exclude<BatchEvents['BatchEnded']['outcome'], 'completed'>;

/** Whatever lines are open; null while they may be asked. */
export function earlyOutcomeOf(state: NonNullable<BatchState>, caller: Caller | null, now: Date): EarlyOutcome | null {
  if (batchKeyFault(caller) !== null) return 'failed';
  if (isCancelling(state)) return 'cancelled';
  return state.facts.expires_at * 1_000 <= now.getTime() ? 'expired' : null;
}

/** Null while the key may make the batch's calls. */
export function batchKeyFault(caller: Caller | null): BatchError | null {
  if (caller === null) return keyRevoked;
  return caller.scopes.has(lineScope) ? null : scopeMissing;
}

/** Earlier releases created batches with keys that lack the scope. */
const scopeMissing: BatchError = {
  code: 'gateway_scope_missing',
  line: null,
  message: `The API key that made the batch lacks the scope ${lineScope}. Lines that were finished are kept.`,
  param: null,
};

export const keyRevoked: BatchError = {
  code: 'key_revoked',
  line: null,
  message: 'The API key that made the batch was revoked or has expired. Lines that were finished are kept.',
  param: null,
};
