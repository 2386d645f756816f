import { type BatchState, isCancelling, lineScope } from '#domain/batch/batch.ts';
import type { BatchError, BatchEvents } from '#domain/batch/events.ts';
import type { Caller } from '#domain/shared/access.ts';

/** The outcome of a batch of which not all lines were asked. */
export type EarlyOutcome = Exclude<BatchEvents['BatchEnded']['outcome'], 'completed'>;

/** The outcome whatever lines are open; null while they may be asked. */
export function earlyOutcomeOf(state: NonNullable<BatchState>, caller: Caller | null, now: Date): EarlyOutcome | null {
  if (batchKeyFault(caller) !== null) return 'failed';
  if (isCancelling(state)) return 'cancelled';
  return state.facts.expires_at * 1_000 <= now.getTime() ? 'expired' : null;
}

/** Why the key may not make the batch's calls; null while it may. */
export function batchKeyFault(caller: Caller | null): BatchError | null {
  if (caller === null) return keyRevoked;
  return caller.scopes.has(lineScope) ? null : scopeMissing;
}

/** The fault of a key that lacks the scope. Earlier releases created batches with such keys. */
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
