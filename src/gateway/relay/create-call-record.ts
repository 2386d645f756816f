import type { CallOutcome, CallRecord, FailedTry } from '#gateway/call-record.ts';
import type { Target } from '#gateway/config/catalogue.ts';
import { type Consumption, costOf } from '#gateway/cost.ts';
import type { AttemptTimes } from './attempt.ts';
import type { RelayedCall } from './relayed-call.ts';

/** How a call ended. */
export interface CallResult {
  readonly outcome: CallOutcome;
  /** The target of the last attempt; null without one. */
  readonly target: Target | null;
  readonly attempts: number;
  readonly failedTries: ReadonlyArray<FailedTry>;
  readonly errorCode: string | null;
  readonly times: AttemptTimes;
}

/** Makes the record of a call that has ended now, with its consumption and its cost. */
export function createCallRecord(call: RelayedCall, result: CallResult): CallRecord {
  const { operation, caller, isStreamed, startedAt, route } = call;
  const { outcome, target, attempts, failedTries, errorCode, times } = result;
  const since = (at: number | null) => (at === null ? null : at - startedAt);
  const used = consumptionOf(call, result);
  const price = target?.price ?? null;
  return {
    operation,
    keyId: caller.keyId,
    organizationId: caller.organizationId,
    projectId: caller.projectId,
    partnerId: caller.partnerId,
    model: route.name,
    target: target?.id ?? null,
    provider: target?.provider ?? null,
    streamed: isStreamed,
    outcome,
    errorCode: outcome === 'served' ? null : errorCode,
    attempts,
    failedTries,
    headersMs: since(times.headersAt),
    firstContentMs: since(times.contentAt),
    totalMs: performance.now() - startedAt,
    ...used,
    cost: price === null ? null : costOf(used, price),
  };
}

function consumptionOf(call: RelayedCall, { outcome, times }: CallResult): Consumption {
  const { operation, responseHandler, characters } = call;
  // A provider bills a text as soon as it begins to speak it, even if the client leaves early.
  const isSpoken = times.contentAt !== null && outcome !== 'failed' && outcome !== 'refused';
  return {
    tokens: responseHandler.tokens,
    characters: isSpoken ? characters : null,
    audioSeconds: operation === 'transcription' ? (responseHandler.audioSeconds ?? null) : null,
  };
}
