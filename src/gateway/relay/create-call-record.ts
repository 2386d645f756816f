import type { Caller } from '#domain/shared/access.ts';
import type { ResponseSink } from '#exchange/response-sink.ts';
import type { ModelRoute, Target } from '#gateway/config/catalogue.ts';
import type { ProviderRequest } from '#gateway/providers/provider.ts';
import type { SecretRedactor } from '#gateway/providers/secret-redactor.ts';
import type { ResponseHandler } from '#gateway/response/response-handler.ts';
import type { Transport } from '#gateway/transport/transport.ts';
import type { AttemptTimes } from './attempt.ts';
import {
  type BrokenAttempt,
  type CallOutcome,
  type CallRecord,
  type Consumption,
  costOf,
  type FailedTry,
  type ReportedConsumption,
} from './call-record.ts';

/** An earlier attempt, and what its provider had reported when it broke. */
export interface EarlierAttempt {
  readonly target: Target;
  readonly reported: ReportedConsumption;
}

/** How a call ended. */
export interface EndedCall {
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
export function createCallRecord(call: RelayedCall, result: EndedCall): CallRecord {
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

function consumptionOf(call: RelayedCall, { outcome, times, reported }: EndedCall): Consumption {
  // A provider bills a text as soon as it begins to speak it, even if the client leaves early.
  const isSpoken = times.contentAt !== null && outcome !== 'failed' && outcome !== 'refused';
  return { ...reportedIn(call, reported), characters: isSpoken ? call.characters : null };
}

/** Only of a transcription does a length of audio say what was consumed. */
function reportedIn({ operation }: RelayedCall, { tokens, audioSeconds }: ReportedConsumption): ReportedConsumption {
  return { tokens, audioSeconds: operation === 'transcription' ? audioSeconds : null };
}

/** A call whose request is read and checked. */
export interface RelayedCall {
  readonly operation: CallRecord['operation'];
  readonly caller: Caller;
  readonly requestId: string;
  readonly isStreamed: boolean;
  /** The length of the text to speak; null in other calls. */
  readonly characters: number | null;
  /** When the complete request arrived, by the monotonic clock in ms. */
  readonly startedAt: number;
  readonly route: ModelRoute;
  readonly response: ResponseSink;
  readonly responseHandler: ResponseHandler;
  /** Whether a target's provider supports this operation. */
  readonly canServe: (target: Target) => boolean;
  /**
   * Makes the request for a target.
   * @param continueFrom the answer's text so far, which the target continues
   */
  readonly requestFor: (target: Target, continueFrom: string | null) => OutgoingRequest;
}

/** A request to a provider, with the means to send it. */
export interface OutgoingRequest extends ProviderRequest {
  readonly transport: Transport;
  /** Removes the operator's secrets from a refusal. */
  readonly redactor: SecretRedactor | null;
}
