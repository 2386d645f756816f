import type { Caller, Tenant } from '#domain/shared/access.ts';
import type { CallOutcome } from '#domain/usage/recorded-call.ts';
import type { AttemptTimes } from '#gateway/attempt/attempt.ts';
import type { ModelRoute, ModelTarget } from '#gateway/config/catalogue.ts';
import type { Consumption, ReportedConsumption } from '#gateway/neutral/consumption.ts';
import { type AttemptRecord, type BrokenAttempt, type CallRecord, costOf } from './call-record.ts';

export interface EarlierAttempt {
  readonly target: ModelTarget;
  readonly reported: ReportedConsumption;
}

interface EndedCall {
  readonly outcome: CallOutcome;
  /** The target of the last attempt; null without one. */
  readonly target: ModelTarget | null;
  readonly attempts: ReadonlyArray<AttemptRecord>;
  readonly reported: ReportedConsumption;
  readonly brokenAttempts: ReadonlyArray<EarlierAttempt>;
  readonly errorCode: string | null;
  /** See `CallRecord.reason`. */
  readonly reason: string | null;
  readonly times: AttemptTimes;
}

/** Makes the record of a call that has ended now. */
export function createCallRecord(call: CallToRecord, result: EndedCall): CallRecord {
  const { operation, caller, id: requestId, batchId, isStreamed, startedAt, route } = call;
  const { outcome, target, attempts, errorCode, reason, times } = result;
  const since = (at: number | null) => (at === null ? null : at - startedAt);
  const used = consumptionOf(call, result);
  return {
    operation,
    keyId: caller.keyId,
    requestId,
    batchId,
    organizationId: caller.organizationId,
    projectId: caller.projectId,
    partnerId: caller.partnerId,
    model: route.name,
    target: target?.id ?? null,
    provider: target?.provider ?? null,
    streamed: isStreamed,
    outcome,
    errorCode: outcome === 'served' ? null : errorCode,
    reason,
    attempts,
    headersMs: since(times.headersAt),
    firstContentMs: since(times.contentAt),
    totalMs: performance.now() - startedAt,
    endedAt: Date.now(),
    tokens: used.tokens,
    characters: used.characters,
    audioSeconds: used.audioSeconds,
    cost: costAt(target, used),
    brokenAttempts: result.brokenAttempts.map((attempt) => brokenAttemptOf(call, attempt)),
  };
}

/**
 * The header of an answer whose head is sent now: name and value; empty if the cost is not known.
 * @param target answers
 * @param reported so far
 * @param earlier attempts that broke before
 */
export function costHeader(
  call: CallToRecord,
  target: ModelTarget,
  reported: ReportedConsumption,
  earlier: ReadonlyArray<EarlierAttempt>,
): ReadonlyArray<string> {
  const cost = costAt(target, { ...reportedIn(call, reported), characters: call.characters });
  if (cost === null) return [];
  const before = earlier.reduce((sum, attempt) => sum + (brokenAttemptOf(call, attempt).cost ?? 0), 0);
  return ['X-Switchyard-Cost', decimal(cost + before)];
}

/** The number without an exponent, to twelve decimals. */
function decimal(value: number): string {
  return value.toFixed(12).replace(/\.?0+$/, '');
}

function brokenAttemptOf(call: CallToRecord, { target, reported }: EarlierAttempt): BrokenAttempt {
  const used = reportedIn(call, reported);
  return { target: target.id, provider: target.provider, ...used, cost: costAt(target, { ...used, characters: null }) };
}

function costAt(target: ModelTarget | null, used: Consumption): number | null {
  return target === null || target.price === null ? null : costOf(used, target.price);
}

function consumptionOf(call: CallToRecord, { outcome, times, reported }: EndedCall): Consumption {
  // A provider bills a text as soon as it begins to speak it, even if the client leaves early.
  const isSpoken = times.contentAt !== null && outcome !== 'failed' && outcome !== 'refused';
  return { ...reportedIn(call, reported), characters: isSpoken ? call.characters : null };
}

/** What was consumed. Only of a transcription does a length of audio say it. */
function reportedIn({ operation }: CallToRecord, { tokens, audioSeconds }: ReportedConsumption): ReportedConsumption {
  return { tokens, audioSeconds: operation === 'transcription' ? audioSeconds : null };
}

export interface CallToRecord {
  readonly operation: CallRecord['operation'];
  readonly caller: Tenant & Pick<Caller, 'keyId'>;
  readonly id: string;
  /** The id of the batch; null for a client's call. */
  readonly batchId: string | null;
  readonly isStreamed: boolean;
  /** The number of characters of the text to speak; null in other calls. */
  readonly characters: number | null;
  /** When the complete request arrived, by the monotonic clock in ms. */
  readonly startedAt: number;
  readonly route: ModelRoute;
}
