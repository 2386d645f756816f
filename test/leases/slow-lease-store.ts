import { AsyncLocalStorage } from 'node:async_hooks';
import type { LeaseStore, RoundWrite, TermId } from '#leases/lease-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { SimulatedTime } from '#test/worlds/simulated-time.ts';

/** The delays of one call of a store, and whether it is lost. */
export interface CallOutcome {
  readonly requestDelayMs: number;
  readonly answerDelayMs: number;
  readonly lost: 'request' | 'answer' | null;
  /** The time after which the call fails, although it may be executed. Default: it does not fail. */
  readonly failsAfterMs?: number;
}

export type LeaseCall = 'newestOfAll' | 'begin' | 'renewAll' | 'release';

/** Returns the outcome of a command that takes this time, half of it in each direction. */
export function taking(milliseconds: number): CallOutcome {
  return { requestDelayMs: milliseconds / 2, answerDelayMs: milliseconds / 2, lost: null };
}

/** Loses a call. Its caller gets no answer. */
export const lost: CallOutcome = { ...taking(2), lost: 'request' };

/**
 * A lease store behind a network. An answer reaches the simulated node that has called, so a frozen one gets it when it
 * wakes.
 */
export class SlowLeaseStore implements LeaseStore {
  readonly #time: SimulatedTime;
  readonly #store: LeaseStore;
  readonly #outcomeOf: (call: LeaseCall) => CallOutcome;
  /** A request that was sent arrives although its node is frozen or dies. */
  readonly #asWorld: (work: () => void) => void = AsyncLocalStorage.snapshot();

  /** @param outcomeOf is asked at each call */
  constructor(time: SimulatedTime, store: LeaseStore, outcomeOf: (call: LeaseCall) => CallOutcome) {
    this.#time = time;
    this.#store = store;
    this.#outcomeOf = outcomeOf;
  }

  newestOfAll() {
    return this.#call('newestOfAll', () => this.#store.newestOfAll());
  }

  begin(name: string, token: number, holder: string, expiryMs: number) {
    return this.#call('begin', () => this.#store.begin(name, token, holder, expiryMs));
  }

  renewAll(terms: ReadonlyArray<TermId>, round: RoundWrite) {
    return this.#call('renewAll', () => this.#store.renewAll(terms, round));
  }

  release(name: string, token: number) {
    return this.#call('release', () => this.#store.release(name, token));
  }

  close() {
    return this.#store.close();
  }

  #call<Result>(name: LeaseCall, call: () => Promise<Result>): Promise<Result> {
    const { requestDelayMs, answerDelayMs, lost: isLost, failsAfterMs } = this.#outcomeOf(name);
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    if (failsAfterMs !== undefined)
      this.#time.in(failsAfterMs, () => reject(new UnavailableError('The store does not answer.')));
    if (isLost === 'request') return promise;
    const answer = AsyncLocalStorage.bind((run: () => void) => this.#time.in(answerDelayMs, run));
    const arrive = async () => {
      try {
        const result = await call();
        if (isLost !== 'answer') answer(() => resolve(result));
      } catch (error) {
        answer(() => reject(error));
      }
    };
    this.#asWorld(() => this.#time.in(requestDelayMs, arrive));
    return promise;
  }
}
