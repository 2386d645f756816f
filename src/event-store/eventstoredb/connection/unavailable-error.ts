import type { UnavailableCause } from '#shared/availability/availability.ts';
import { PermanentlyUnavailableError, UnavailableError } from '#shared/errors/unavailable-error.ts';
import { callFailure, isDeleted } from './call-failure.ts';
import { causeOf } from './unavailable-cause.ts';

/**
 * Returns the error that callers get for a failed call: its cause, without addresses and secrets.
 * @param what the middle of "The event store … : it does not answer in time."
 * @param failure a call's failure or its cause; an UnavailableError is returned unchanged
 */
export function unavailableError(what: string, failure: unknown): UnavailableError {
  if (failure instanceof UnavailableError) return failure;
  if (isDeleted(callFailure(failure))) return new UnavailableError('The stream was deleted in EventStoreDB.');
  const { detail, isPermanent } = isCause(failure) ? failure : causeOf(failure);
  const message = `The event store ${what}: ${detail}.`;
  return isPermanent ? new PermanentlyUnavailableError(message) : new UnavailableError(message);
}

function isCause(value: unknown): value is UnavailableCause {
  return typeof value === 'object' && value !== null && 'isPermanent' in value && 'detail' in value;
}
