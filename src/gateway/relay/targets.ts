import { type AttemptFailure, isRefusedFor, type RefusalClass } from '#gateway/attempt/attempt-failure.ts';
import type { ModelTarget } from '#gateway/config/catalogue.ts';
import type { CircuitBreaker, CircuitState } from '#gateway/health/circuit-breaker.ts';
import type { AttemptError, AttemptObserver, AttemptReport, AttemptResult } from '#gateway/health/target-health.ts';
import { failureName, failureReason } from '#gateway/response/error-response.ts';
import type { AttemptRecord } from './call-record.ts';
import { countsAgainst } from './retry-policy.ts';

export class TargetQueue {
  readonly #all: ReadonlyArray<ModelTarget>;
  #left: ModelTarget[];
  /** Targets that were passed over because their circuits are open. */
  #resting: ModelTarget[] = [];
  readonly #breaker: CircuitBreaker;
  readonly #recorder: AttemptRecorder;

  constructor(targets: ReadonlyArray<ModelTarget>, breaker: CircuitBreaker, recorder: AttemptRecorder) {
    this.#all = targets;
    this.#left = [...targets];
    this.#breaker = breaker;
    this.#recorder = recorder;
  }

  /** True if no other target has a closed circuit. */
  isLast(target: ModelTarget): boolean {
    return this.#all.every(({ id }) => id === target.id || this.#breaker.openUntil(id) > 0);
  }

  /** The number of targets that were not tried yet, and have no open circuit. */
  get usableLeft(): number {
    return this.#left.filter(({ id }) => !this.#breaker.isOpen(id)).length;
  }

  /** The next target; null if the circuits of all others are open. */
  next(fits: (target: ModelTarget) => boolean = () => true): ModelTarget | null {
    for (let target = this.#left.shift(); target !== undefined; target = this.#left.shift()) {
      if (!fits(target)) continue;
      if (this.#recorder.tryAcquire(target)) return target;
      this.#resting.push(target);
    }
    return null;
  }

  /**
   * The next target of those that were not called, the one whose circuit is half-open first.
   * @param isRefused whether another target has refused the request. Then only targets count that were passed over, and
   * their circuits protect them from most of such calls
   */
  nextResting(isRefused: boolean): ModelTarget | null {
    const openUntil = ({ id }: ModelTarget) => this.#breaker.openUntil(id);
    const all = isRefused ? this.#resting : [...this.#resting, ...this.#left];
    const inOrder = all.toSorted((one, other) => openUntil(one) - openUntil(other));
    const first = inOrder.find(({ id }) => !isRefused || this.#breaker.tryOutOfTurn(id)) ?? null;
    this.#resting = this.#resting.filter((target) => target !== first);
    this.#left = this.#left.filter((target) => target !== first);
    return first;
  }
}

/** Maximum time for a target's own `Retry-After`. */
const maxOpenMs = 60_000;

/** The only call in one period of a half-open circuit. */
interface Probe {
  readonly target: ModelTarget;
  /** The end of the period, by the circuit breaker's clock. */
  readonly until: number;
}

interface FailedAttempt {
  /** The status of the provider's answer; null without an answer. */
  readonly status: number | null;
  /** True if no other target of the call has a closed circuit. */
  readonly isLast: boolean;
}

/** Refusals with which a target shows that it works. */
const requestsFaults: ReadonlyArray<RefusalClass> = ['request', 'context-length', 'unsupported'];

/** Records the attempts of one call, also in the circuit breaker, and reports them to the observer. */
export class AttemptRecorder {
  readonly #breaker: CircuitBreaker;
  readonly #observer: AttemptObserver;
  readonly #requestId: string;
  readonly #callStartedAt: number;
  readonly #attempts: AttemptRecord[] = [];
  /** When the latest attempt began, by the monotonic clock in ms. */
  #startedAt = 0;
  /** The probe; null if this call tries no half-open circuit, or its attempt there has ended. */
  #probe: Probe | null = null;

  /** @param call the id, and when the complete request arrived, by the monotonic clock in ms */
  constructor(
    breaker: CircuitBreaker,
    observer: AttemptObserver,
    { id, startedAt }: { readonly id: string; readonly startedAt: number },
  ) {
    this.#breaker = breaker;
    this.#observer = observer;
    this.#requestId = id;
    this.#callStartedAt = startedAt;
  }

  get attempts(): ReadonlyArray<AttemptRecord> {
    return this.#attempts;
  }

  start(): void {
    this.#startedAt = performance.now();
  }

  /** Closes an open circuit as soon as content of the target arrives, because the end may take long. */
  recordContent(target: ModelTarget): void {
    if (this.#breaker.recordContent(target.id, this.#startedAt)) this.#reportCircuit(target, 'closed', null);
  }

  /** @param status of the provider's answer */
  recordSuccess(target: ModelTarget, status: number | null): void {
    this.#probe = null;
    this.#recordHealthy(target);
    this.#add(target, 'served', status, null);
    this.#reportAttempt(target, 'served', null);
  }

  /** @param status of the provider's answer; null without an answer */
  recordAbandoned(target: ModelTarget, status: number | null): void {
    this.#add(target, 'abandoned', status, null);
    this.#reportAttempt(target, 'abandoned', null);
  }

  /** Releases the probe of a client that has left: another call may try the half-open circuit. */
  releaseProbe(): void {
    if (this.#probe !== null) this.#breaker.release(this.#probe.target.id, this.#probe.until);
    this.#probe = null;
  }

  recordFailure(target: ModelTarget, failure: AttemptFailure, { status, isLast }: FailedAttempt): void {
    this.#add(target, 'failed', status, failure);
    // The fault of this node says nothing about the target.
    if (failure.kind === 'here') {
      this.#reportAttempt(target, 'abandoned', null);
      return;
    }
    this.#probe = null;
    const error = attemptErrorOf(failure);
    const isRequestsFault = requestsFaults.some((refusal) => isRefusedFor(failure, refusal));
    this.#reportAttempt(target, isRequestsFault ? 'refused' : 'failed', error, {
      isKeyRefused: isRefusedFor(failure, 'operator'),
      ...(failure.kind === 'broken' && failure.thrown !== undefined ? { thrown: failure.thrown } : {}),
    });
    if (isRequestsFault) this.#recordHealthy(target);
    else if (countsAgainst(failure) && this.#breaker.recordFailure(target.id, this.#startedAt, isLast))
      this.#reportCircuit(target, 'open', error);
  }

  openCircuitIfBusy(target: ModelTarget, failure: AttemptFailure): void {
    const isBusy = failure.kind === 'refused' && failure.status === 429;
    if (!isBusy || failure.retryAfterMs === null) return;
    const isOpening = this.#breaker.open(target.id, Math.min(maxOpenMs, failure.retryAfterMs));
    if (isOpening) this.#reportCircuit(target, 'open', attemptErrorOf(failure));
  }

  /** Whether the circuit permits an attempt. */
  tryAcquire(target: ModelTarget): boolean {
    if (!this.#breaker.tryAcquire(target.id)) return false;
    const until = this.#breaker.openUntil(target.id);
    if (until === 0) return true;
    this.#probe = { target, until };
    this.#reportCircuit(target, 'half-open', null);
    return true;
  }

  /** Records that the target works, even if it refused the request. */
  #recordHealthy(target: ModelTarget): void {
    if (this.#breaker.recordSuccess(target.id, this.#startedAt)) this.#reportCircuit(target, 'closed', null);
  }

  #add(
    { id: target }: ModelTarget,
    result: AttemptRecord['result'],
    status: number | null,
    failure: AttemptFailure | null,
  ): void {
    this.#attempts.push({
      target,
      result,
      status: failure?.kind === 'refused' ? failure.status : status,
      errorType: failure === null ? null : failureName(failure),
      reason: failure === null ? null : failureReason(failure),
      startMs: this.#startedAt - this.#callStartedAt,
      durationMs: performance.now() - this.#startedAt,
    });
  }

  #reportAttempt(
    target: ModelTarget,
    result: AttemptResult,
    error: AttemptError | null,
    more: Pick<AttemptReport, 'isKeyRefused' | 'thrown'> = {},
  ): void {
    const durationMs = performance.now() - this.#startedAt;
    this.#observer.attempt({ target, result, error, durationMs, requestId: this.#requestId, ...more });
  }

  #reportCircuit(target: ModelTarget, state: CircuitState, error: AttemptError | null): void {
    this.#observer.circuit({ target, state, error, requestId: this.#requestId });
  }
}

function attemptErrorOf(failure: AttemptFailure): AttemptError {
  return { code: failureName(failure), status: failure.kind === 'refused' ? failure.status : null };
}
