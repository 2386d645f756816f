import type { ResponseSink } from '#application/responses/response-sink.ts';
import { failure as failureWith } from '#domain/shared/failure.ts';
import type { Caller } from '#domain/shared/tenancy.ts';
import type { CallOutcome, CallRecord, FailedTry, Usage } from '#gateway/call-record.ts';
import { type ModelRoute, orderTargets, type Target } from '#gateway/config/catalogue.ts';
import { type Consumption, costOf } from '#gateway/cost.ts';
import type { ProviderRequest } from '#gateway/providers/provider.ts';
import type { SecretRedactor } from '#gateway/providers/secret-redactor.ts';
import {
  type ErrorResponse,
  errorResponseFor,
  failureName,
  gatewayErrorResponse,
} from '#gateway/response/error-response.ts';
import type { ResponseHandler } from '#gateway/response/response-handler.ts';
import { sendError } from '#gateway/response/send-error.ts';
import { providerRequestIdField } from '#gateway/transport/provider-request-id.ts';
import type { Transport } from '#gateway/transport/transport.ts';
import { Attempt, type AttemptControl, type AttemptOutcome, type AttemptTimes } from './attempt.ts';
import { type AttemptFailure, classifyRefusal, redactRefusal } from './attempt-failure.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import { Deadline } from './deadline.ts';
import { countsAgainst, nextStep } from './retry-policy.ts';

/** What every call is relayed with, whatever it asks for. */
export interface RelayDependencies {
  readonly breaker: CircuitBreaker;
  readonly usage: Usage;
  /** From 0 to 1, 1 excluded: for weights and jitter. */
  readonly random: () => number;
}

/** One call whose request was read and checked. */
export interface RelayedCall {
  readonly operation: CallRecord['operation'];
  readonly caller: Caller;
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
export function relay(call: RelayedCall, dependencies: RelayDependencies): Promise<void> {
  return new Relay(call, dependencies).run();
}

class Relay {
  readonly #call: RelayedCall;
  readonly #dependencies: RelayDependencies;
  /** Targets not asked yet, in order. */
  readonly #targetsLeft: Target[];
  #attempt: Attempt | null = null;
  #endDelay: (() => void) | null = null;
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

  constructor(call: RelayedCall, dependencies: RelayDependencies) {
    this.#call = call;
    this.#dependencies = dependencies;
    this.#targetsLeft = orderTargets(call.route, dependencies.random).filter(call.canServe);
  }

  async run(): Promise<void> {
    const { response, route, startedAt } = this.#call;
    const total = new Deadline(() => this.#expire());
    total.set(route.totalMs - (performance.now() - startedAt));
    response.onDisconnect(() => this.#onDisconnect());
    try {
      this.#record(await this.#tryAll());
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
      if (outcome.kind === 'abandoned') return 'client-gone';
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
      if (outcome.kind === 'abandoned') return 'client-gone';
      failure = outcome.failure;
      this.#recordFailure(target, failure);
    }
    this.#errorCode = errorResponseFor(failure).code;
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
        breaker.recordContent(target.id, this.#triedAt);
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
    this.#dependencies.breaker.recordSuccess(target.id, this.#triedAt);
    return this.#hasLeft ? 'client-gone' : 'served';
  }

  #recordFailure(target: Target, failure: AttemptFailure): void {
    const { breaker } = this.#dependencies;
    this.#failedTries ??= [];
    this.#failedTries.push({ target: target.id, errorType: failureName(failure) });
    if (countsAgainst(failure)) breaker.recordFailure(target.id, this.#triedAt);
    if (
      failure.kind === 'refused' &&
      (classifyRefusal(failure) === 'request' || classifyRefusal(failure) === 'context-length')
    )
      breaker.recordSuccess(target.id, this.#triedAt);
    if (!isTooLong(this.#failure) || isFor(failure, 'request')) this.#failure = failure;
  }

  /** Opens the circuit of a busy target for as long as its `Retry-After` asks. */
  #openCircuit(target: Target, failure: AttemptFailure): void {
    const isBusy = failure.kind === 'refused' && failure.status === 429;
    if (isBusy && failure.retryAfterMs !== null)
      this.#dependencies.breaker.open(target.id, Math.min(maxOpenMs, failure.retryAfterMs));
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
      if (breaker.tryAcquire(target.id)) return target;
      skipped.push(target);
    }
    if (this.#attempts > 0) return null;
    const [first = null] = skipped.toSorted((one, other) => breaker.openUntil(one.id) - breaker.openUntil(other.id));
    return first;
  }

  #delay(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, milliseconds);
    this.#endDelay = () => {
      clearTimeout(timer);
      resolve();
    };
    return promise;
  }

  /** A finished answer is billed whether or not the client reads it: the attempt then reads its usage, and nothing else. */
  #onDisconnect(): void {
    this.#hasLeft = true;
    if (this.#call.responseHandler.isAwaitingUsage) this.#attempt?.readUsageOnly();
    else this.#attempt?.abandon();
    this.#endDelay?.();
  }

  #expire(): void {
    this.#isOutOfTime = true;
    this.#attempt?.expire();
    this.#endDelay?.();
  }

  /** Writes to the client why there is no answer. */
  #refuse(failure: AttemptFailure | null): CallOutcome {
    const { response } = this.#call;
    if (response.isDisconnected) return 'client-gone';
    const error: ErrorResponse = failure === null ? gatewayErrorResponse(noCapableProvider) : errorResponseFor(failure);
    this.#errorCode = error.code;
    const servedBy = this.#target === null ? [] : this.#servedBy(this.#target);
    const requestId = failure?.kind === 'refused' ? failure.requestId : null;
    sendError(response, error, [...servedBy, ...providerRequestIdField(requestId)]);
    return error.status < 500 ? 'refused' : 'failed';
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

const noCapableProvider = failureWith('no-provider', 'No provider of this model can do this. Tell the operator.');

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
