import type { RelayReport } from '#application/operations/operation.ts';
import type { ResponseSink } from '#application/responses/response-sink.ts';
import { failure as failureWith } from '#domain/shared/failure.ts';
import type { Caller } from '#domain/shared/tenancy.ts';
import type { CallOutcome, CallRecord, FailedTry, Usage } from '#gateway/call-record.ts';
import { type ModelRoute, orderTargets, type Target } from '#gateway/config/catalogue.ts';
import { type Consumption, costOf } from '#gateway/cost.ts';
import type { AttemptError, AttemptObserver, AttemptResult } from '#gateway/health/attempt-report.ts';
import type { ProviderRequest } from '#gateway/providers/provider.ts';
import type { SecretRedactor } from '#gateway/providers/secret-redactor.ts';
import {
  type ErrorResponse,
  errorResponseFor,
  failureName,
  finalErrorResponse,
  gatewayErrorResponse,
} from '#gateway/response/error-response.ts';
import type { ResponseHandler } from '#gateway/response/response-handler.ts';
import { sendError } from '#gateway/response/send-error.ts';
import { providerRequestIdField } from '#gateway/transport/provider-request-id.ts';
import type { Transport } from '#gateway/transport/transport.ts';
import { delay } from '#shared/async/delay.ts';
import { Attempt, type AttemptControl, type AttemptOutcome, type AttemptTimes } from './attempt.ts';
import { type AttemptFailure, classifyRefusal, redactRefusal } from './attempt-failure.ts';
import type { CircuitBreaker, CircuitState } from './circuit-breaker.ts';
import { Deadline } from './deadline.ts';
import { countsAgainst, isLeftToClient, nextStep } from './retry-policy.ts';

/** What every call is relayed with, whatever it asks for. */
export interface RelayDependencies {
  readonly breaker: CircuitBreaker;
  readonly usage: Usage;
  readonly observer: AttemptObserver;
  /** From 0 to 1, 1 excluded: for weights and jitter. */
  readonly random: () => number;
}

/** One call whose request was read and checked. */
export interface RelayedCall {
  readonly operation: CallRecord['operation'];
  readonly caller: Caller;
  readonly requestId: string;
  readonly isStreamed: boolean;
  /** Of the text to speak; null in other calls. */
  readonly characters: number | null;
  /** When the whole request had arrived, by the monotonic clock in ms. */
  readonly startedAt: number;
  readonly route: ModelRoute;
  readonly response: ResponseSink;
  readonly responseHandler: ResponseHandler;
  /** Whether a target's provider supports this operation. */
  readonly canServe: (target: Target) => boolean;
  /** Makes the request for a target. @param continueFrom the answer's text so far, which the target continues */
  readonly requestFor: (target: Target, continueFrom: string | null) => OutgoingRequest;
}

export interface OutgoingRequest extends ProviderRequest {
  readonly transport: Transport;
  /** Takes the operator's secrets out of a refusal; null where there are none. */
  readonly redactor: SecretRedactor | null;
}

/** The longest time for which a target's own `Retry-After` opens its circuit. */
const maxOpenMs = 60_000;

/**
 * Relays a call: target after target, attempt after attempt, until one serves it, no target is left, its time is over
 * or the client has left. Resolves when nothing more will be written; never rejects.
 */
export function relay(call: RelayedCall, dependencies: RelayDependencies): Promise<RelayReport> {
  return new Relay(call, dependencies).run();
}

class Relay {
  readonly #call: RelayedCall;
  readonly #dependencies: RelayDependencies;
  /** Targets not asked yet, in order. */
  readonly #targetsLeft: Target[];
  #attempt: Attempt | null = null;
  #delaying: AbortController | null = null;
  #attempts = 0;
  #failedTries: FailedTry[] | null = null;
  #triesHere = 0;
  /** When the latest attempt began, by the monotonic clock in ms. */
  #triedAt = 0;
  #isOutOfTime = false;
  /** The client left while its answer was still being read. */
  #hasLeft = false;
  #target: Target | null = null;
  #failure: AttemptFailure | null = null;
  #times: AttemptTimes = { headersAt: null, contentAt: null };
  #errorCode: string | null = null;
  /** Of the failure that broke an answer off; null without one. */
  #brokenStatus: number | null = null;

  constructor(call: RelayedCall, dependencies: RelayDependencies) {
    this.#call = call;
    this.#dependencies = dependencies;
    this.#targetsLeft = orderTargets(call.route, dependencies.random).filter(call.canServe);
  }

  async run(): Promise<RelayReport> {
    const { response, route, startedAt } = this.#call;
    const total = new Deadline(() => this.#expire());
    total.set(route.totalMs - (performance.now() - startedAt));
    response.onDisconnect(() => this.#onDisconnect());
    try {
      const outcome = await this.#tryAll();
      this.#record(outcome);
      return this.#report(outcome);
    } finally {
      total.clear();
      response.onDisconnect(null);
    }
  }

  async #tryAll(): Promise<CallOutcome> {
    let target = this.#nextTarget();
    while (target !== null) {
      if (this.#call.response.isDisconnected) return 'client-gone';
      if (this.#isOutOfTime) return this.#refuse({ kind: 'limit', limit: 'total' });
      const outcome = await this.#try(target, null);
      if (outcome.kind === 'completed') return this.#recordSuccess(target);
      if (outcome.kind === 'abandoned') return this.#recordAbandoned(target);
      this.#recordFailure(target, outcome.failure);
      if (this.#call.responseHandler.hasBegun) return this.#continueElsewhere(outcome.failure);
      const step = this.#nextStep(target, outcome.failure);
      if (step.kind !== 'again') this.#openCircuit(target, outcome.failure);
      if (step.kind === 'give-up') break;
      if (step.kind === 'again') await this.#delay(step.afterMs);
      else target = this.#nextTarget();
    }
    return this.#refuse(this.#failure);
  }

  /** The client has a part of the answer: only a target that continues it can help. */
  async #continueElsewhere(first: AttemptFailure): Promise<CallOutcome> {
    const { responseHandler, response } = this.#call;
    let failure = first;
    for (;;) {
      if (response.isDisconnected) return 'client-gone';
      const text = responseHandler.continuation();
      const target = text === null || this.#isOutOfTime ? null : this.#nextTarget(({ prefill }) => prefill);
      if (target === null) break;
      const outcome = await this.#try(target, text);
      if (outcome.kind === 'completed') return this.#recordSuccess(target);
      if (outcome.kind === 'abandoned') return this.#recordAbandoned(target);
      failure = outcome.failure;
      this.#recordFailure(target, failure);
    }
    const { code, status } = errorResponseFor(failure);
    this.#errorCode = code;
    this.#brokenStatus = status;
    responseHandler.abort(failure);
    return 'broken-off';
  }

  #try(target: Target, continueFrom: string | null): Promise<AttemptOutcome> {
    const { requestFor, responseHandler } = this.#call;
    const { transport, request, translator, redactor } = requestFor(target, continueFrom);
    this.#target = target;
    this.#attempts += 1;
    this.#triesHere += 1;
    this.#triedAt = performance.now();
    const servedBy = this.#servedBy(target);
    const attempt: Attempt = new Attempt(target.timeouts, (status, headers, control) =>
      responseHandler.receive({ status, headers, servedBy, translator }, this.#closeCircuitOnContent(target, control)),
    );
    this.#attempt = attempt;
    // The client did not wait for an attempt that continues an answer: its times do not count.
    const isFirstAnswer = !responseHandler.hasBegun;
    attempt.start(transport, request);
    return attempt.outcome.then((outcome) => {
      this.#attempt = null;
      if (isFirstAnswer) this.#times = attempt.times;
      return redactor === null ? outcome : withoutSecrets(outcome, redactor);
    });
  }

  #servedBy({ id }: Target): ReadonlyArray<string> {
    return ['X-Switchyard-Target', id, 'X-Switchyard-Attempts', String(this.#attempts)];
  }

  /** Closes an open circuit as soon as content of the target arrives: the end may take long. */
  #closeCircuitOnContent(target: Target, control: AttemptControl): AttemptControl {
    const { breaker } = this.#dependencies;
    if (breaker.openUntil(target.id) === 0) return control;
    return {
      markContent: () => {
        if (breaker.recordContent(target.id, this.#triedAt)) this.#observeCircuit(target, 'closed', null);
        control.markContent();
      },
      markEnding: () => control.markEnding(),
      complete: () => control.complete(),
      fail: (failure) => control.fail(failure),
      pause: () => control.pause(),
      resume: () => control.resume(),
    };
  }

  #recordSuccess(target: Target): CallOutcome {
    this.#recordHealthy(target);
    this.#observe(target, 'served', null);
    return this.#hasLeft ? 'client-gone' : 'served';
  }

  #recordFailure(target: Target, failure: AttemptFailure): void {
    const { breaker } = this.#dependencies;
    this.#failedTries ??= [];
    const error = attemptErrorOf(failure);
    this.#failedTries.push({ target: target.id, errorType: error.code });
    const isRequestsFault = isFor(failure, 'request') || isFor(failure, 'context-length');
    this.#observe(target, isRequestsFault ? 'refused' : 'failed', error);
    if (isRequestsFault) this.#recordHealthy(target);
    else if (countsAgainst(failure) && breaker.recordFailure(target.id, this.#triedAt))
      this.#observeCircuit(target, 'open', error);
    if (!isTooLong(this.#failure) || isFor(failure, 'request')) this.#failure = failure;
  }

  #recordAbandoned(target: Target): CallOutcome {
    this.#observe(target, 'abandoned', null);
    return 'client-gone';
  }

  /** The target works, whatever it thinks of the request. */
  #recordHealthy(target: Target): void {
    if (this.#dependencies.breaker.recordSuccess(target.id, this.#triedAt))
      this.#observeCircuit(target, 'closed', null);
  }

  #observe(target: Target, result: AttemptResult, error: AttemptError | null): void {
    const durationMs = performance.now() - this.#triedAt;
    const { requestId } = this.#call;
    this.#dependencies.observer.attempt({ target, result, error, durationMs, requestId });
  }

  #observeCircuit(target: Target, state: CircuitState, error: AttemptError | null): void {
    this.#dependencies.observer.circuit({ target, state, error, requestId: this.#call.requestId });
  }

  /** Opens the circuit of a busy target for as long as its `Retry-After` asks. */
  #openCircuit(target: Target, failure: AttemptFailure): void {
    const isBusy = failure.kind === 'refused' && failure.status === 429;
    if (!isBusy || failure.retryAfterMs === null) return;
    const isOpening = this.#dependencies.breaker.open(target.id, Math.min(maxOpenMs, failure.retryAfterMs));
    if (isOpening) this.#observeCircuit(target, 'open', attemptErrorOf(failure));
  }

  #nextStep(target: Target, failure: AttemptFailure): ReturnType<typeof nextStep> {
    const { breaker, random } = this.#dependencies;
    const { route, startedAt } = this.#call;
    const hasOther = this.#targetsLeft.some(({ id }) => !breaker.isOpen(id));
    // A target whose circuit is open or half-open gets no retry while another one can serve.
    const retries = hasOther && breaker.openUntil(target.id) > 0 ? 0 : route.retries;
    const remainingMs = route.totalMs - (performance.now() - startedAt);
    const { retryAfterMaxMs } = route;
    const state = { triesHere: this.#triesHere, retries, retryAfterMaxMs, hasOther, remainingMs };
    return nextStep(failure, state, random());
  }

  /** The next target that may be asked. Where all circuits are open and no target was asked, the one that closes first. */
  #nextTarget(fits: (target: Target) => boolean = () => true): Target | null {
    const { breaker } = this.#dependencies;
    const skipped: Target[] = [];
    this.#triesHere = 0;
    for (let target = this.#targetsLeft.shift(); target !== undefined; target = this.#targetsLeft.shift()) {
      if (!fits(target)) continue;
      if (this.#tryAcquire(target)) return target;
      skipped.push(target);
    }
    if (this.#attempts > 0) return null;
    const [first = null] = skipped.toSorted((one, other) => breaker.openUntil(one.id) - breaker.openUntil(other.id));
    return first;
  }

  #tryAcquire(target: Target): boolean {
    const { breaker } = this.#dependencies;
    if (!breaker.tryAcquire(target.id)) return false;
    if (breaker.openUntil(target.id) > 0) this.#observeCircuit(target, 'half-open', null);
    return true;
  }

  #delay(milliseconds: number): Promise<void> {
    this.#delaying = new AbortController();
    return delay(milliseconds, this.#delaying.signal);
  }

  /** A finished answer is billed whether or not the client reads it: the attempt then reads its usage, and nothing else. */
  #onDisconnect(): void {
    this.#hasLeft = true;
    if (this.#call.responseHandler.isAwaitingUsage) this.#attempt?.readUsageOnly();
    else this.#attempt?.abandon();
    this.#delaying?.abort();
  }

  #expire(): void {
    this.#isOutOfTime = true;
    this.#attempt?.expire();
    this.#delaying?.abort();
  }

  /** Writes to the client why there is no answer. */
  #refuse(failure: AttemptFailure | null): CallOutcome {
    const { response } = this.#call;
    if (response.isDisconnected) return 'client-gone';
    const error = failure === null ? noCapableProvider : this.#finalError(failure);
    this.#errorCode = error.code;
    const servedBy = this.#target === null ? [] : this.#servedBy(this.#target);
    const requestId = failure?.kind === 'refused' ? failure.requestId : null;
    sendError(response, error, [...servedBy, ...providerRequestIdField(requestId)]);
    return error.status < 500 ? 'refused' : 'failed';
  }

  #finalError(failure: AttemptFailure): ErrorResponse {
    const mayRetry = this.#attempts > 1 || this.#call.route.retries > 0;
    return finalErrorResponse(failure, isLeftToClient(failure, mayRetry));
  }

  #report(outcome: CallOutcome): RelayReport {
    return {
      kind: 'relayed',
      status: outcome === 'client-gone' ? clientGoneStatus : this.#brokenStatus,
      code: this.#errorCode,
      model: this.#call.route.name,
      target: this.#target?.id ?? null,
      attempts: this.#attempts,
    };
  }

  #record(outcome: CallOutcome): void {
    const { operation, caller, isStreamed, startedAt, route, responseHandler } = this.#call;
    const { headersAt, contentAt } = this.#times;
    const since = (at: number | null) => (at === null ? null : at - startedAt);
    const { tokens } = responseHandler;
    // A provider bills a text once it begins to speak it, even if no one hears the end.
    const isSpoken = contentAt !== null && outcome !== 'failed' && outcome !== 'refused';
    const used: Consumption = {
      tokens,
      characters: isSpoken ? this.#call.characters : null,
      audioSeconds: operation === 'transcription' ? (responseHandler.audioSeconds ?? null) : null,
    };
    const price = this.#target?.price ?? null;
    this.#dependencies.usage.record({
      operation,
      keyId: caller.keyId,
      organizationId: caller.organizationId,
      projectId: caller.projectId,
      partnerId: caller.partnerId,
      model: route.name,
      target: this.#target?.id ?? null,
      provider: this.#target?.provider ?? null,
      streamed: isStreamed,
      outcome,
      errorCode: outcome === 'served' ? null : this.#errorCode,
      attempts: this.#attempts,
      failedTries: this.#failedTries ?? noTries,
      headersMs: since(headersAt),
      firstContentMs: since(contentAt),
      totalMs: performance.now() - startedAt,
      ...used,
      cost: price === null ? null : costOf(used, price),
    });
  }
}

const noTries: ReadonlyArray<FailedTry> = [];

/** The status of a request whose client has left, in logs and metrics. */
const clientGoneStatus = 499;

function attemptErrorOf(failure: AttemptFailure): AttemptError {
  return { code: failureName(failure), status: failure.kind === 'refused' ? failure.status : null };
}

const noCapableProvider: ErrorResponse = {
  ...gatewayErrorResponse(failureWith('no-provider', 'No provider of this model can do this. Tell the operator.')),
  shouldRetry: 'false',
};

/** Takes the secrets out of a failure before anything else reads it. */
function withoutSecrets(outcome: AttemptOutcome, redactor: SecretRedactor): AttemptOutcome {
  return outcome.kind === 'failed' && outcome.failure.kind === 'refused'
    ? { kind: 'failed', failure: redactRefusal(outcome.failure, redactor) }
    : outcome;
}

function isTooLong(failure: AttemptFailure | null): boolean {
  return failure !== null && isFor(failure, 'context-length');
}

function isFor(failure: AttemptFailure, refusal: ReturnType<typeof classifyRefusal>): boolean {
  return failure.kind === 'refused' && classifyRefusal(failure) === refusal;
}
