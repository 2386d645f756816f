import { type Failure, failure } from '#domain/shared/failure.ts';
import { bodyEvicted, bodyShortageFailure, bodyTooLarge } from './body-failures.ts';
import type { Arrival } from './body-source.ts';

/**
 * Why a body did not arrive completely; null if it did.
 * @param maxBytes the most bytes that were accepted
 */
export function arrivalFailure(arrival: Arrival, maxBytes: number): Failure | null {
  if (typeof arrival === 'object') return bodyShortageFailure(arrival.shortage);
  switch (arrival) {
    case 'whole':
      return null;
    case 'stopped':
      return bodyTooLarge(maxBytes);
    case 'too-slow':
      return tooSlow;
    case 'evicted':
      return bodyEvicted;
  }
}

const tooSlow = failure('body-too-slow', 'The body stopped arriving or took too long. Send it again.');
