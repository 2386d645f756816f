import type { Caller } from '#domain/shared/access.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { defaultLimitFactor, type LimitFactors, type LimitLevel, limitAt, limitLevelsOf } from './limit-levels.ts';
import { RateLimit, type RateLimitResult, unlimited } from './rate-limit.ts';

/** The limits. Undefined for no limit. */
interface CallLimitsOptions {
  readonly requestsPerMinute?: number | undefined;
  readonly callsAtOnce?: number | undefined;
  /** The limit of an organization as a multiple of a project's limits. Default 10. */
  readonly organizationFactor?: number | undefined;
  /** The limit of a partner with all its customers, as a multiple of a project's limits. Default 10. */
  readonly partnerFactor?: number | undefined;
}

/**
 * Limits of calls on this node: requests a minute and calls at the same time, counted for the project, its organization
 * and its partner. They may change while calls run.
 */
export class CallLimits {
  /** The running calls by kind and id; those without running calls have no entry. */
  readonly #running: Readonly<Record<LimitLevel['kind'], Map<string, number>>> = {
    project: new Map(),
    organization: new Map(),
    partner: new Map(),
  };
  #rate: RateLimit | null = null;
  #maxConcurrentCalls: number | null = null;
  #factors: LimitFactors = { organization: defaultLimitFactor, partner: defaultLimitFactor };

  #refusedCalls = 0;

  constructor(configuration: CallLimitsOptions) {
    this.configure(configuration);
  }

  /** The number of running calls, without those of `admin` keys. */
  get running(): number {
    let calls = 0;
    for (const ofProject of this.#running.project.values()) calls += ofProject;
    return calls;
  }

  /** The number of calls that were refused because too many run. */
  get refusedCalls(): number {
    return this.#refusedCalls;
  }

  /** The number of requests that were refused because of the requests of the minute, since it is limited. */
  get refusedRequests(): number {
    return this.#rate?.refused ?? 0;
  }

  /** Changes the limits. The counts of the current minute and of running calls stay. */
  configure(configuration: CallLimitsOptions): void {
    const { requestsPerMinute, callsAtOnce, organizationFactor, partnerFactor } = configuration;
    this.#factors = {
      organization: organizationFactor ?? defaultLimitFactor,
      partner: partnerFactor ?? defaultLimitFactor,
    };
    this.#maxConcurrentCalls = callsAtOnce ?? null;
    if (requestsPerMinute === undefined) this.#rate = null;
    else if (this.#rate === null) this.#rate = new RateLimit(requestsPerMinute, this.#factors);
    else this.#rate.configure(requestsPerMinute, this.#factors);
  }

  /** Takes the place of a call. When an admitted call ends, `release` must be called once. */
  acquire(caller: Caller): RateLimitResult | Promise<RateLimitResult> {
    const levels = limitLevelsOf(caller);
    const refusal = this.#tooManyCalls(levels);
    if (refusal !== null) return { headers: [], refusal };
    // Calls without a limit are counted too, because a limit may be set while they run.
    for (const level of levels) this.#add(level, 1);
    return this.#rate === null ? unlimited : this.#countRequest(caller, this.#rate);
  }

  async #countRequest(caller: Caller, rate: RateLimit): Promise<RateLimitResult> {
    const limited = await rate.take(caller);
    if (limited.refusal !== null) this.release(caller);
    return limited;
  }

  /**
   * A background call, such as a line of a batch, counts as a running call, not as a request of the minute. If the
   * project may have two or more running calls, a quarter of them is reserved for live calls.
   * @returns why the call is refused; null if it is admitted: then `release` must be called once when it ends
   */
  acquireInBackground(caller: Caller): Failure | null {
    const levels = limitLevelsOf(caller);
    const refusal = this.#tooManyCalls(levels, (limit) => Math.max(1, limit - Math.ceil(limit / 4)));
    if (refusal !== null) return refusal;
    for (const level of levels) this.#add(level, 1);
    return null;
  }

  release(caller: Caller): void {
    for (const level of limitLevelsOf(caller)) this.#add(level, -1);
  }

  #tooManyCalls(levels: ReadonlyArray<LimitLevel>, shareOf = (limit: number) => limit): Failure | null {
    if (this.#maxConcurrentCalls === null) return null;
    for (const level of levels) {
      const limit = limitAt(level, this.#maxConcurrentCalls, this.#factors);
      if (this.#runningAt(level) < shareOf(limit)) continue;
      this.#refusedCalls += 1;
      return tooManyCalls(level, limit);
    }
    return null;
  }

  #runningAt({ kind, id }: LimitLevel): number {
    return this.#running[kind].get(id) ?? 0;
  }

  #add(level: LimitLevel, calls: number): void {
    const ofKind = this.#running[level.kind];
    const running = this.#runningAt(level) + calls;
    if (running > 0) ofKind.set(level.id, running);
    else ofKind.delete(level.id);
  }
}

function tooManyCalls({ kind }: LimitLevel, limit: number): Failure {
  const detail = `The ${kind} has ${limit} calls running, as many as it may have at once. Try again when one has ended.`;
  return failure('too-many-calls', detail, { retryAfterSeconds: 1 });
}
