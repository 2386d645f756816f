import { failure as failureWith } from '#domain/failure.ts';
import type { Caller } from '#domain/tenancy.ts';
import type { Answering } from './answering.ts';
import { Attempt, type AttemptControl, type AttemptOutcome, type AttemptTimes } from './attempt.ts';
import {
  type AttemptFailure,
  classOf,
  errorTypeOf,
  type LastWord,
  lastWordOn,
  ownWords,
  redactedRefusal,
} from './attempt-failure.ts';
import { countsAgainst, nextStep } from './attempts.ts';
import type { CallOutcome, CallRecord, FailedTry, Usage } from './call-record.ts';
import { inOrder, type Route, type Target } from './catalogue.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { Client } from './client.ts';
import { type Consumption, costOf } from './cost.ts';
import { Deadline } from './deadline.ts';
import type { ProviderRequest } from './provider.ts';
import { providerRequestIdField } from './provider-request-id.ts';
import type { SecretRedactor } from './secret-redactor.ts';
import type { Transport } from './transport.ts';

/** What every call is relayed with. */
export interface RelayMeans {
  readonly breaker: CircuitBreaker;
  readonly usage: Usage;
  /** From 0 to 1, 1 excluded: for weights and jitter. */
  readonly random: () => number;
}

/** One call that has been understood. */
export interface RelayedCall {
  readonly operation: CallRecord['operation'];
  readonly caller: Caller;
  readonly streamed: boolean;
  /** Of the text that is to be spoken; null in other calls. */
  readonly characters: number | null;
  /** When the whole request had come, by the monotonic clock in ms. */
  readonly startedAt: number;
  readonly route: Route;
  readonly client: Client;
  readonly answering: Answering;
  /** Whether a target's provider can do this at all. */
  readonly canServe: (target: Target) => boolean;
  /** What to send to a target. @param continueFrom the answer's text so far, for the target to go on from */
  readonly requestFor: (target: Target, continueFrom: string | null) => Outgoing;
}

export interface Outgoing extends ProviderRequest {
  readonly transport: Transport;
  /** Takes what is the operator's secret out of a refusal; null where nothing is. */
  readonly redactor: SecretRedactor | null;
}

/** A target that asks to be left alone is left alone so long at most. */
const longestRestMs = 60_000;

/**
 * Relays a call: target after target, try after try, until one serves it, nothing is left to try, its time is over or
 * the client has left. Resolves when nothing more will be written; never rejects.
 */
export function relay(call: RelayedCall, means: RelayMeans): Promise<void> {
  return new Relay(call, means).run();
}

class Relay {
  readonly #call: RelayedCall;
  readonly #means: RelayMeans;
  /** Targets that have not been asked, in order. */
  readonly #left: Target[];
  #attempt: Attempt | null = null;
  #wake: (() => void) | null = null;
  #attempts = 0;
  #failedTries: FailedTry[] | null = null;
  #triesHere = 0;
  /** When the latest attempt began, by the monotonic clock in ms. */
  #triedAt = 0;
  #outOfTime = false;
  /** The client left while its answer was still being read. */
  #hasLeft = false;
  #target: Target | null = null;
  #failure: AttemptFailure | null = null;
  #times: AttemptTimes = { headersAt: null, contentAt: null };
  #errorCode: string | null = null;

  constructor(call: RelayedCall, means: RelayMeans) {
    this.#call = call;
    this.#means = means;
    this.#left = inOrder(call.route, means.random).filter(call.canServe);
  }

  async run(): Promise<void> {
    const { client, route, startedAt } = this.#call;
    const total = new Deadline(() => this.#runOut());
    total.set(route.totalMs - (performance.now() - startedAt));
    client.onGone = () => this.#leave();
    try {
      this.#record(await this.#tryAll());
    } finally {
      total.clear();
      client.onGone = null;
    }
  }

  async #tryAll(): Promise<CallOutcome> {
    let target = this.#next();
    while (target !== null) {
      if (this.#call.client.gone) return 'client-gone';
      if (this.#outOfTime) return this.#tell({ kind: 'limit', limit: 'total' });
      const outcome = await this.#try(target, null);
      if (outcome.kind === 'served') return this.#served(target);
      if (outcome.kind === 'given-up') return 'client-gone';
      this.#failed(target, outcome.failure);
      if (this.#call.answering.begun) return this.#goOnElsewhere(outcome.failure);
      const step = this.#step(target, outcome.failure);
      if (step.kind !== 'again') this.#leaveAlone(target, outcome.failure);
      if (step.kind === 'give-up') break;
      if (step.kind === 'again') await this.#wait(step.afterMs);
      else target = this.#next();
    }
    return this.#tell(this.#failure);
  }

  /** The client has a part of the answer: only another target that goes on from it can help. */
  async #goOnElsewhere(first: AttemptFailure): Promise<CallOutcome> {
    const { answering, client } = this.#call;
    let failure = first;
    for (;;) {
      if (client.gone) return 'client-gone';
      const text = answering.continuation();
      const target = text === null || this.#outOfTime ? null : this.#next(({ prefill }) => prefill);
      if (target === null) break;
      const outcome = await this.#try(target, text);
      if (outcome.kind === 'served') return this.#served(target);
      if (outcome.kind === 'given-up') return 'client-gone';
      failure = outcome.failure;
      this.#failed(target, failure);
    }
    this.#errorCode = lastWordOn(failure).code;
    answering.breakOff(failure);
    return 'broken-off';
  }

  #try(target: Target, continueFrom: string | null): Promise<AttemptOutcome> {
    const { requestFor, answering } = this.#call;
    const { transport, request, reading, redactor } = requestFor(target, continueFrom);
    this.#target = target;
    this.#attempts += 1;
    this.#triesHere += 1;
    this.#triedAt = performance.now();
    const servedBy = this.#servedBy(target);
    const attempt: Attempt = new Attempt(target.timeouts, (status, headers, control) =>
      answering.receive({ status, headers, servedBy, reading }, this.#watched(target, control)),
    );
    this.#attempt = attempt;
    // What goes on with an answer is not what the client waited for.
    const isAnew = !answering.begun;
    attempt.start(transport, request);
    return attempt.outcome.then((outcome) => {
      this.#attempt = null;
      if (isAnew) this.#times = attempt.times;
      return redactor === null ? outcome : withoutSecrets(outcome, redactor);
    });
  }

  #servedBy({ id }: Target): ReadonlyArray<string> {
    return ['X-Switchyard-Target', id, 'X-Switchyard-Attempts', String(this.#attempts)];
  }

  /** A rested target is asked again as soon as an answer of it begins: its end may be long in coming. */
  #watched(target: Target, control: AttemptControl): AttemptControl {
    const { breaker } = this.#means;
    if (breaker.restedUntil(target.id) === 0) return control;
    return {
      content: () => {
        breaker.answered(target.id, this.#triedAt);
        control.content();
      },
      ending: () => control.ending(),
      served: () => control.served(),
      failed: (failure) => control.failed(failure),
      pause: () => control.pause(),
      resume: () => control.resume(),
    };
  }

  #served(target: Target): CallOutcome {
    this.#means.breaker.succeeded(target.id, this.#triedAt);
    return this.#hasLeft ? 'client-gone' : 'served';
  }

  #failed(target: Target, failure: AttemptFailure): void {
    const { breaker } = this.#means;
    this.#failedTries ??= [];
    this.#failedTries.push({ target: target.id, errorType: errorTypeOf(failure) });
    if (countsAgainst(failure)) breaker.failed(target.id, this.#triedAt);
    if (failure.kind === 'refused' && (classOf(failure) === 'request' || classOf(failure) === 'context-length'))
      breaker.succeeded(target.id, this.#triedAt);
    if (!isTooLong(this.#failure) || isFor(failure, 'request')) this.#failure = failure;
  }

  /** A target that has too much to do and said how long is not asked again before. */
  #leaveAlone(target: Target, failure: AttemptFailure): void {
    const isBusy = failure.kind === 'refused' && failure.status === 429;
    if (isBusy && failure.retryAfterMs !== null)
      this.#means.breaker.rest(target.id, Math.min(longestRestMs, failure.retryAfterMs));
  }

  #step(target: Target, failure: AttemptFailure): ReturnType<typeof nextStep> {
    const { breaker, random } = this.#means;
    const { route, startedAt } = this.#call;
    const hasOther = this.#left.some(({ id }) => !breaker.isResting(id));
    // One that is rested, or was only tried to see, is not insisted on while another can serve.
    const retries = hasOther && breaker.restedUntil(target.id) > 0 ? 0 : route.retries;
    const remainingMs = route.totalMs - (performance.now() - startedAt);
    const { retryAfterMaxMs } = route;
    const standing = { triesHere: this.#triesHere, retries, retryAfterMaxMs, hasOther, remainingMs };
    return nextStep(failure, standing, random());
  }

  /** The next target that may be asked. Where all are rested and none was asked, the one whose rest ends first. */
  #next(fits: (target: Target) => boolean = () => true): Target | null {
    const { breaker } = this.#means;
    const rested: Target[] = [];
    this.#triesHere = 0;
    for (let target = this.#left.shift(); target !== undefined; target = this.#left.shift()) {
      if (!fits(target)) continue;
      if (breaker.enter(target.id)) return target;
      rested.push(target);
    }
    if (this.#attempts > 0) return null;
    const [first = null] = rested.toSorted((one, other) => breaker.restedUntil(one.id) - breaker.restedUntil(other.id));
    return first;
  }

  #wait(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, milliseconds);
    this.#wake = () => {
      clearTimeout(timer);
      resolve();
    };
    return promise;
  }

  /** A finished answer has been paid for, by whoever took it: only its usage is waited for then. */
  #leave(): void {
    this.#hasLeft = true;
    if (this.#call.answering.awaitsUsage) this.#attempt?.readOn();
    else this.#attempt?.giveUp();
    this.#wake?.();
  }

  #runOut(): void {
    this.#outOfTime = true;
    this.#attempt?.runOut();
    this.#wake?.();
  }

  /** Tells the client why there is no answer. */
  #tell(failure: AttemptFailure | null): CallOutcome {
    const { client } = this.#call;
    if (client.gone) return 'client-gone';
    const word: LastWord = failure === null ? ownWords(nobodyCan) : lastWordOn(failure);
    this.#errorCode = word.code;
    const servedBy = this.#target === null ? [] : this.#servedBy(this.#target);
    const requestId = failure?.kind === 'refused' ? failure.requestId : null;
    client.refuse(word, [...servedBy, ...providerRequestIdField(requestId)]);
    return word.status < 500 ? 'refused' : 'failed';
  }

  #record(outcome: CallOutcome): void {
    const { operation, caller, streamed, startedAt, route, answering } = this.#call;
    const { headersAt, contentAt } = this.#times;
    const since = (at: number | null) => (at === null ? null : at - startedAt);
    const { tokens } = answering;
    // A text is billed once it begins to be spoken, whether or not anybody hears the end.
    const isSpoken = contentAt !== null && outcome !== 'failed' && outcome !== 'refused';
    const used: Consumption = {
      tokens,
      characters: isSpoken ? this.#call.characters : null,
      audioSeconds: operation === 'transcription' ? (answering.audioSeconds ?? null) : null,
    };
    const price = this.#target?.price ?? null;
    this.#means.usage.record({
      operation,
      keyId: caller.keyId,
      organizationId: caller.organizationId,
      projectId: caller.projectId,
      partnerId: caller.partnerId,
      model: route.name,
      target: this.#target?.id ?? null,
      provider: this.#target?.provider ?? null,
      streamed,
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

const nobodyCan = failureWith('no-provider', 'No provider of this model can do this. Tell the operator.');

/** Whatever is made of a failure later, its secrets are out of it before. */
function withoutSecrets(outcome: AttemptOutcome, redactor: SecretRedactor): AttemptOutcome {
  return outcome.kind === 'failed' && outcome.failure.kind === 'refused'
    ? { kind: 'failed', failure: redactedRefusal(outcome.failure, redactor) }
    : outcome;
}

function isTooLong(failure: AttemptFailure | null): boolean {
  return failure !== null && isFor(failure, 'context-length');
}

function isFor(failure: AttemptFailure, refusal: ReturnType<typeof classOf>): boolean {
  return failure.kind === 'refused' && classOf(failure) === refusal;
}
