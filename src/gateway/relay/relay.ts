import type { StreamReport } from '#application/operations/operation.ts';
import { failure as failureWith } from '#domain/shared/failure.ts';
import type { CallOutcome } from '#domain/usage/recorded-call.ts';
import type { Held } from '#exchange/held.ts';
import {
  Attempt,
  type AttemptOutcome,
  type AttemptTimeouts,
  type AttemptTimes,
  attemptTimeouts,
  wholeAnswerTimeouts,
} from '#gateway/attempt/attempt.ts';
import { type AttemptFailure, isRefusedFor, redactRefusal, unreadable } from '#gateway/attempt/attempt-failure.ts';
import type { BodyConsumer, CreateBodyConsumer } from '#gateway/attempt/body-consumer.ts';
import { Deadline } from '#gateway/attempt/deadline.ts';
import { type ModelRoute, type ModelTarget, orderTargets } from '#gateway/config/catalogue.ts';
import type { RelayDependencies } from '#gateway/gateway.ts';
import type { RelayedCall } from '#gateway/gateway-call.ts';
import { nothingReported, type ReportedConsumption } from '#gateway/neutral/consumption.ts';
import type { SecretRedactor } from '#gateway/providers/secret-redactor.ts';
import {
  type ErrorResponse,
  errorResponseFor,
  failureReason,
  finalErrorResponse,
  gatewayErrorResponse,
  sendError,
} from '#gateway/response/error-response.ts';
import type { ResponseHandler, ResponseHead } from '#gateway/response/response-handler.ts';
import { providerRequestIdField } from '#gateway/transport/transport.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { type CallToRecord, costHeader, createCallRecord, type EarlierAttempt } from './create-call-record.ts';
import { type Keeper, keptBy, notKept } from './keeper.ts';
import type { OutgoingRequest, Requests } from './requests.ts';
import { isLeftToClient, isTemporary, nextStep, weightOf } from './retry-policy.ts';
import { AttemptRecorder, TargetQueue } from './targets.ts';

export interface Relaying {
  readonly route: ModelRoute;
  readonly requests: Requests;
  readonly responder: ResponseHandler;
  /** The keeper; missing if the answer is only passed on. */
  readonly keeper?: Keeper;
  /** Whether the caller itself answers in place of this error. Missing if it never does. Never rejects. */
  readonly takeOver?: (failure: AttemptFailure) => Promise<boolean>;
}

/**
 * Makes attempts at one target after the other, until one serves the call, no target is left, its time is over or the
 * client has left. Resolves when nothing more will be written; never rejects.
 */
export function relay(call: RelayedCall, relaying: Relaying): Promise<StreamReport> {
  return new Relay(call, relaying).run();
}

class Relay {
  readonly #call: RelayedCall;
  readonly #relaying: Relaying;
  readonly #dependencies: RelayDependencies;
  readonly #recorded: CallToRecord;
  readonly #recorder: AttemptRecorder;
  readonly #targets: TargetQueue;
  #attempt: Attempt | null = null;
  #delaying: AbortController | null = null;
  /** What is kept while usage is read after the client has left; else null. */
  #kept: Held | null = null;
  #attempts = 0;
  #triesHere = 0;
  readonly #total = new Deadline(() => this.#expire());
  /** The end of the time, by the monotonic clock in ms. */
  #endsAt: number;
  #isOutOfTime = false;
  /** True if the client left while its answer was still being read. */
  #hasLeft = false;
  #target: ModelTarget | null = null;
  /** The status of the last attempt's answer; null without an answer. */
  #status: number | null = null;
  #reported: ReportedConsumption = nothingReported;
  #brokenAttempts: EarlierAttempt[] | null = null;
  #failure: AttemptFailure | null = null;
  #times: AttemptTimes = { headersAt: null, contentAt: null };
  #errorCode: string | null = null;
  #reason: string | null = null;
  /** The status of the failure of an answer whose head was sent before it; null without one. */
  #failedStatus: number | null = null;

  constructor(call: RelayedCall, relaying: Relaying) {
    this.#call = call;
    this.#relaying = relaying;
    this.#dependencies = call.gateway.relayDependencies;
    const { route, requests } = relaying;
    this.#recorded = recordedOf(call, route);
    const { breaker, observer, random } = this.#dependencies;
    this.#recorder = new AttemptRecorder(breaker, observer, this.#recorded);
    const targets = orderTargets(route, random).filter((target) => requests.canServe(target));
    this.#targets = new TargetQueue(targets, breaker, this.#recorder);
    this.#endsAt = this.#recorded.startedAt + route.totalMs;
  }

  async run(): Promise<StreamReport> {
    const { client: response } = this.#call;
    this.#total.set(this.#remainingMs);
    response.onDisconnect(() => this.#onDisconnect());
    try {
      const outcome = await this.#tryAll();
      this.#record(outcome);
      return this.#report(outcome);
    } finally {
      this.#total.clear();
      this.#kept?.release();
      this.#recorder.releaseProbe();
      this.#relaying.responder.close?.();
    }
  }

  async #tryAll(): Promise<CallOutcome> {
    let target = this.#nextTarget() ?? this.#nextResting();
    while (target !== null) {
      const made = this.#relaying.requests.requestFor(target, null);
      const outgoing = made instanceof Promise ? await made : made;
      if (this.#call.client.isDisconnected) return 'client-gone';
      if (this.#isOutOfTime) return this.#refuse({ kind: 'limit', limit: 'total' });
      if (outgoing === null) {
        target = this.#nextTarget() ?? this.#nextResting();
        continue;
      }
      const outcome = await this.#try(target, outgoing);
      if (outcome.kind === 'completed') return this.#recordSuccess(target);
      if (outcome.kind === 'abandoned') return this.#recordAbandoned(target);
      this.#recordFailure(target, outcome.failure);
      if (this.#relaying.responder.hasBegun) return this.#continueElsewhere(outcome.failure);
      const step = this.#nextStep(target, outcome.failure);
      if (step.kind !== 'again') this.#recorder.openCircuitIfBusy(target, outcome.failure);
      if (step.kind === 'again') await this.#delay(step.afterMs);
      else target = (step.kind === 'other' || this.#isOutOfTime ? this.#nextTarget() : null) ?? this.#nextResting();
    }
    return (await this.#isTakenOver()) ? 'served' : this.#refuse(this.#failure);
  }

  async #isTakenOver(): Promise<boolean> {
    const { takeOver } = this.#relaying;
    if (takeOver === undefined || this.#failure === null || this.#relaying.responder.hasHead === true) return false;
    return takeOver(this.#failure);
  }

  /** The client has a part of the answer, so only a target that can continue it is called. */
  async #continueElsewhere(first: AttemptFailure): Promise<CallOutcome> {
    const { client: response } = this.#call;
    const { responder } = this.#relaying;
    let failure = first;
    for (;;) {
      if (response.isDisconnected) return 'client-gone';
      const text = responder.continuation();
      const target = text === null ? null : this.#nextTarget(({ prefill }) => prefill);
      if (target === null) break;
      const outgoing = await this.#relaying.requests.requestFor(target, text);
      // The client may have left, or the time may be over, while the request was made.
      if (outgoing === null || response.isDisconnected || this.#isOutOfTime) continue;
      const outcome = await this.#try(target, outgoing);
      if (outcome.kind === 'completed') return this.#recordSuccess(target);
      if (outcome.kind === 'abandoned') return this.#recordAbandoned(target);
      failure = outcome.failure;
      this.#recordFailure(target, failure);
    }
    const { code, status } = errorResponseFor(failure, this.#call);
    this.#errorCode = code;
    this.#reason = failureReason(failure);
    this.#failedStatus = status;
    responder.abort(failure);
    return 'broken-off';
  }

  #try(target: ModelTarget, outgoing: OutgoingRequest): Promise<AttemptOutcome> {
    const { responder, keeper } = this.#relaying;
    const { transport, request, translator, redactor, ignored } = outgoing;
    this.#keepReported();
    this.#target = target;
    this.#attempts += 1;
    this.#triesHere += 1;
    this.#recorder.start();
    const servedBy = [...this.#servedBy(target), ...(ignored === undefined ? [] : [ignoredHeader, ignored])];
    const costOfHead = this.#costHeaderAt(target);
    const { provider } = target;
    const servedFrom = { model: this.#relaying.route.name, target: target.id };
    let consumer: BodyConsumer | null = null;
    const createConsumer: CreateBodyConsumer = (status, headers, control) => {
      const { earlyHeadMs } = target.timeouts;
      const named = { provider, servedFrom, servedBy, earlyHeadMs, costHeader: costOfHead };
      const head = { status, headers, ...named, translator, redactor };
      const kept = keeper === undefined ? { ...head, keeping: notKept } : keptBy(keeper, head);
      consumer = responder.receive(kept, control);
      return consumer;
    };
    const onContent = () => this.#recorder.recordContent(target);
    const attempt = new Attempt(this.#timeoutsOf(target), createConsumer, onContent);
    this.#attempt = attempt;
    // The times of an attempt that continues an answer do not count, because the client already has content.
    const isFirstAnswer = !responder.hasBegun;
    attempt.start(transport, request);
    return attempt.outcome.then((outcome) => {
      this.#status = attempt.status;
      this.#reported = consumer?.reported?.() ?? nothingReported;
      if (isFirstAnswer) this.#times = attempt.times;
      if (outcome.kind === 'completed' && responder.deliver !== undefined)
        return responder.deliver().then(() => outcome, undelivered);
      return redactor === null ? outcome : withoutSecrets(outcome, redactor);
    });
  }

  #timeoutsOf(target: ModelTarget): AttemptTimeouts {
    if (!this.#call.isMadeInSilence) return attemptTimeouts(target.timeouts);
    return wholeAnswerTimeouts(target, { remainingMs: this.#remainingMs, targetsLeft: 1 + this.#targets.usableLeft });
  }

  #keepReported(): void {
    const [target, reported] = [this.#target, this.#reported];
    this.#reported = nothingReported;
    if (target === null || (reported.tokens === null && reported.audioSeconds === null)) return;
    this.#brokenAttempts ??= [];
    this.#brokenAttempts.push({ target, reported });
  }

  #servedBy({ id }: ModelTarget): ReadonlyArray<string> {
    return ['X-Switchyard-Target', id, 'X-Switchyard-Attempts', String(this.#attempts)];
  }

  #costHeaderAt(target: ModelTarget): ResponseHead['costHeader'] {
    if (target.price === null || !this.#call.caller.scopes.has('usage:read')) return null;
    return (reported) => costHeader(this.#recorded, target, reported, this.#brokenAttempts ?? none);
  }

  #recordSuccess(target: ModelTarget): CallOutcome {
    this.#recorder.recordSuccess(target, this.#status);
    return this.#hasLeft ? 'client-gone' : 'served';
  }

  #recordAbandoned(target: ModelTarget): CallOutcome {
    this.#recorder.recordAbandoned(target, this.#status);
    return 'client-gone';
  }

  #recordFailure(target: ModelTarget, failure: AttemptFailure): void {
    const isLast = this.#targets.isLast(target);
    this.#recorder.recordFailure(target, failure, { status: this.#status, isLast });
    if (this.#failure === null || weightOf(failure) >= weightOf(this.#failure)) this.#failure = failure;
  }

  #nextStep(target: ModelTarget, failure: AttemptFailure): ReturnType<typeof nextStep> {
    const { breaker, random } = this.#dependencies;
    const { route } = this.#relaying;
    const hasOther = this.#targets.usableLeft > 0;
    // A target whose circuit is open or half-open gets no retry while another one can serve.
    const retries = hasOther && breaker.openUntil(target.id) > 0 ? 0 : route.retries;
    const { retryAfterMaxMs } = route;
    const state = {
      triesHere: this.#triesHere,
      retries,
      retryAfterMaxMs,
      hasOther,
      remainingMs: this.#remainingMs,
    };
    return nextStep(failure, state, random());
  }

  #nextTarget(fits: (target: ModelTarget) => boolean = () => true): ModelTarget | null {
    return this.#begin(
      this.#targets.next((target) => fits(target) && (!this.#isOutOfTime || this.#hasOwnTime(target))),
    );
  }

  /**
   * The next target whose circuit is open. It is called when no other can serve the call. One that only fails now may
   * serve it later.
   */
  #nextResting(): ModelTarget | null {
    if (this.#failure !== null && isTemporary(this.#failure)) return null;
    // A request that a target refuses is refused everywhere, unless that target was asked in the place of another.
    const isRefused = this.#failure !== null && isRefusedFor(this.#failure, 'request');
    return this.#begin(this.#targets.nextResting(isRefused));
  }

  #begin(target: ModelTarget | null): ModelTarget | null {
    this.#triesHere = 0;
    if (target !== null) this.#giveOwnTime(target);
    return target;
  }

  /** True for a fallback with a total time of its own. */
  #hasOwnTime(target: ModelTarget): boolean {
    const { fallbacks, isTotalShared } = this.#relaying.route;
    return !isTotalShared && fallbacks.includes(target);
  }

  #giveOwnTime(target: ModelTarget): void {
    if (!this.#hasOwnTime(target)) return;
    this.#isOutOfTime = false;
    this.#endsAt = performance.now() + target.timeouts.totalMs;
    this.#total.set(this.#remainingMs);
  }

  get #remainingMs(): number {
    return this.#endsAt - performance.now();
  }

  #delay(milliseconds: number): Promise<void> {
    this.#delaying = new AbortController();
    return delay(milliseconds, this.#delaying.signal);
  }

  /** A finished answer is billed even if the client does not read it, so the attempt still reads its usage. */
  #onDisconnect(): void {
    this.#hasLeft = true;
    if (this.#relaying.responder.isAwaitingUsage) {
      this.#kept ??= this.#call.held.keep('usage');
      this.#attempt?.readUsageOnly();
    } else this.#attempt?.abandon();
    this.#delaying?.abort();
  }

  #expire(): void {
    this.#isOutOfTime = true;
    this.#attempt?.expire();
    this.#delaying?.abort();
  }

  #refuse(failure: AttemptFailure | null): CallOutcome {
    const { client: response } = this.#call;
    const { responder } = this.#relaying;
    if (response.isDisconnected) return 'client-gone';
    const error = failure === null ? noCapableProvider(this.#call) : this.#finalError(failure);
    this.#errorCode = error.code;
    this.#reason = failure === null ? error.code : failureReason(failure);
    if (failure !== null && responder.hasHead === true) {
      this.#failedStatus = error.status;
      responder.abort(failure);
    } else this.#sendError(error, failure?.kind === 'refused' ? failure.requestId : null);
    // A provider that is busy to the end has failed: nothing is wrong with the request.
    const isBusy = failure !== null && isRefusedFor(failure, 'busy');
    return error.status < 500 && !isBusy ? 'refused' : 'failed';
  }

  #sendError(error: ErrorResponse, providerRequestId: string | null): void {
    const servedBy = this.#target === null ? [] : this.#servedBy(this.#target);
    sendError(this.#call.client, error, [...servedBy, ...providerRequestIdField(providerRequestId)]);
  }

  #finalError(failure: AttemptFailure): ErrorResponse {
    const mayRetry = this.#attempts > 1 || this.#relaying.route.retries > 0;
    return finalErrorResponse(failure, isLeftToClient(failure, mayRetry), this.#call);
  }

  #report(outcome: CallOutcome): StreamReport {
    return {
      kind: 'relayed',
      status: outcome === 'client-gone' ? clientGoneStatus : this.#failedStatus,
      code: this.#errorCode,
      model: this.#relaying.route.name,
      target: this.#target?.id ?? null,
      attempts: this.#attempts,
    };
  }

  #record(outcome: CallOutcome): void {
    const record = createCallRecord(this.#recorded, {
      outcome,
      target: this.#target,
      attempts: this.#recorder.attempts,
      reported: this.#reported,
      brokenAttempts: this.#brokenAttempts ?? none,
      errorCode: this.#errorCode,
      reason: this.#reason,
      times: this.#times,
    });
    const { keeper } = this.#relaying;
    const counted = keeper === undefined ? record : keeper.afterCall(record);
    if (counted !== null) this.#dependencies.usage.record(counted);
  }
}

const none: ReadonlyArray<never> = [];

/** The complete request of a call has arrived now. */
function recordedOf(call: RelayedCall, route: ModelRoute): CallToRecord {
  const { recordedAs: operation, caller, id, batchId, input } = call;
  const { isStreamed, characters = null } = input;
  return { operation, caller, id, batchId, isStreamed, characters, route, startedAt: performance.now() };
}

/** Names the members of the request that the target did not get. */
const ignoredHeader = 'X-Switchyard-Ignored';

const clientGoneStatus = 499;

const noProvider = failureWith('no-provider', 'No provider of this model can do this. Tell the operator.');

function noCapableProvider(call: RelayedCall): ErrorResponse {
  return { ...gatewayErrorResponse(noProvider, call), shouldRetry: 'false' };
}

/** An error of the gateway's own code prevented the delivery of a complete answer. */
function undelivered(error: unknown): AttemptOutcome {
  return { kind: 'failed', failure: unreadable(error) };
}

/** Removes secrets before any other code reads the failure. */
function withoutSecrets(outcome: AttemptOutcome, redactor: SecretRedactor): AttemptOutcome {
  return outcome.kind === 'failed' && outcome.failure.kind === 'refused'
    ? { kind: 'failed', failure: redactRefusal(outcome.failure, redactor) }
    : outcome;
}
