import type { BrokenAttempt, CallOutcome, CallRecord, FailedTry } from '#gateway/call-record.ts';
import type { Target } from '#gateway/config/catalogue.ts';
import { type Consumption, costOf, type ReportedConsumption } from '#gateway/cost.ts';
import type { AttemptTimes } from './attempt.ts';
import type { RelayedCall } from './relayed-call.ts';

/** An earlier attempt, and what its provider had reported when it broke. */
export interface EarlierAttempt {
  readonly target: Target;
  readonly reported: ReportedConsumption;
}

/** How a call ended. */
export interface CallResult {
  readonly outcome: CallOutcome;
  /** The target of the last attempt; null without one. */
  readonly target: Target | null;
  readonly attempts: number;
  readonly failedTries: ReadonlyArray<FailedTry>;
  /** What the provider of the last attempt has reported. */
  readonly reported: ReportedConsumption;
  readonly brokenAttempts: ReadonlyArray<EarlierAttempt>;
  readonly errorCode: string | null;
  readonly times: AttemptTimes;
}

/** Makes the record of a call that has ended now, with its consumption and its cost. */
export function createCallRecord(call: RelayedCall, result: CallResult): CallRecord {
  const { operation, caller, isStreamed, startedAt, route } = call;
  const { outcome, target, attempts, failedTries, errorCode, times } = result;
  const since = (at: number | null) => (at === null ? null : at - startedAt);
  const used = consumptionOf(call, result);
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
    cost: costAt(target, used),
    brokenAttempts: result.brokenAttempts.map((attempt) => brokenAttemptOf(call, attempt)),
  };
}

function brokenAttemptOf(call: RelayedCall, { target, reported }: EarlierAttempt): BrokenAttempt {
  const used = reportedIn(call, reported);
  return { target: target.id, provider: target.provider, ...used, cost: costAt(target, { ...used, characters: null }) };
}

function costAt(target: Target | null, used: Consumption): number | null {
  return target === null || target.price === null ? null : costOf(used, target.price);
}

function consumptionOf(call: RelayedCall, { outcome, times, reported }: CallResult): Consumption {
  // A provider bills a text as soon as it begins to speak it, even if the client leaves early.
  const isSpoken = times.contentAt !== null && outcome !== 'failed' && outcome !== 'refused';
  return { ...reportedIn(call, reported), characters: isSpoken ? call.characters : null };
}

/** Only of a transcription does a length of audio say what was consumed. */
function reportedIn({ operation }: RelayedCall, { tokens, audioSeconds }: ReportedConsumption): ReportedConsumption {
  return { tokens, audioSeconds: operation === 'transcription' ? audioSeconds : null };
}
