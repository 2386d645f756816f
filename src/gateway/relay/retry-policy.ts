import {
  type AttemptFailure,
  classifyRefusal,
  isRefusedFor,
  type RefusalClass,
} from '#gateway/attempt/attempt-failure.ts';
import { maxRetryAfterMs } from '#gateway/config/configuration.ts';
import { backOffMs } from '#shared/async/retrying.ts';

/** The state after an attempt that failed before the client received any content. */
export interface RetryState {
  /** The number of attempts at this target, including the failed one. */
  readonly triesHere: number;
  readonly retries: number;
  /** If a target asks for a longer wait, in ms, the call goes to another target immediately. */
  readonly retryAfterMaxMs: number;
  readonly hasOther: boolean;
  readonly remainingMs: number;
}

type NextStep =
  | { readonly kind: 'again'; readonly afterMs: number }
  | { readonly kind: 'other' }
  | { readonly kind: 'give-up' };

const giveUp: NextStep = { kind: 'give-up' };
const other: NextStep = { kind: 'other' };

/** The pauses if the target does not say how long to wait. */
const backOffLimits = { firstMs: 200, maxMs: 4_000 };
/** @param random from 0 to 1, for jitter: calls that failed together must not retry together */
export function nextStep(failure: AttemptFailure, state: RetryState, random: number): NextStep {
  const elsewhere = state.hasOther ? other : giveUp;
  if (failure.kind === 'here') return giveUp;
  if (failure.kind === 'limit') return failure.limit === 'total' ? giveUp : elsewhere;
  if (failure.kind === 'broken')
    return failure.how === 'too-large' ? elsewhere : retryOr(elsewhere, null, state, random);
  switch (classifyRefusal(failure)) {
    case 'request':
      return giveUp;
    case 'operator':
    case 'unsupported':
    case 'context-length':
      return elsewhere;
    case 'busy':
    case 'server':
      if (failure.shouldRetry === 'false') return elsewhere;
      return retryOr(elsewhere, failure.retryAfterMs, state, random);
  }
}

function retryOr(elsewhere: NextStep, retryAfterMs: number | null, state: RetryState, random: number): NextStep {
  const { triesHere, retries, retryAfterMaxMs, hasOther, remainingMs } = state;
  if (triesHere > retries) return elsewhere;
  if (retryAfterMs === null) {
    const afterMs = backOffMs(triesHere, backOffLimits, random);
    return afterMs < remainingMs ? { kind: 'again', afterMs } : elsewhere;
  }
  if (hasOther && retryAfterMs > retryAfterMaxMs) return other;
  if (retryAfterMs > maxRetryAfterMs || retryAfterMs >= remainingMs) return elsewhere;
  // Never sooner than the target asks, and with jitter, so that calls do not retry at the same time.
  return { kind: 'again', afterMs: Math.round(retryAfterMs + random * Math.min(250, retryAfterMs / 4)) };
}

/**
 * The gateway makes no retry: the request is invalid, the target asks for a longer wait than the gateway allows, or the
 * configuration allows no retry.
 * @param mayRetry whether the configuration allowed a retry
 */
export function isLeftToClient(failure: AttemptFailure, mayRetry: boolean): boolean {
  if (failure.kind === 'here') return true;
  if (failure.kind === 'limit') return false;
  if (failure.kind === 'broken') return !mayRetry && failure.how !== 'too-large';
  switch (classifyRefusal(failure)) {
    case 'request':
      return true;
    case 'operator':
    case 'unsupported':
    case 'context-length':
      return false;
    case 'busy':
    case 'server':
      return !mayRetry || (failure.retryAfterMs !== null && failure.retryAfterMs > maxRetryAfterMs);
  }
}

/** True if the failure counts against the target. Enough of these in a row open its circuit. */
export function countsAgainst(failure: AttemptFailure): boolean {
  switch (failure.kind) {
    case 'limit':
      return failure.limit !== 'total';
    case 'broken':
      return failure.how !== 'too-large';
    case 'here':
      return false;
    case 'refused': {
      const refusal = classifyRefusal(failure);
      return refusal === 'server' || refusal === 'operator';
    }
  }
}

/** Refusals that a later try does not change, in the order of their weight. */
const finalRefusals: ReadonlyArray<RefusalClass> = ['operator', 'unsupported', 'context-length', 'request'];

/**
 * The weight among the failures of a call's targets: the client gets the weightiest, and of these the last. What is
 * temporary weighs most, because the target that has failed may serve the call later.
 */
export function weightOf(failure: AttemptFailure): number {
  return isTemporary(failure) ? finalRefusals.length : finalRefusals.findIndex((each) => isRefusedFor(failure, each));
}

/** True if the target may serve the call later. */
export function isTemporary(failure: AttemptFailure): boolean {
  return !finalRefusals.some((each) => isRefusedFor(failure, each));
}
