import { clock } from '#shared/clock.ts';
import { currentOwner, FairQueue, workOwner } from './fair-queue.ts';

/**
 * Does work for a client. Where the work waits for its turn, it is given up if the client has left.
 * @param check throws if the client has left
 */
export function runForClient<Result>(check: () => void, work: () => Result): Result {
  return workOwner.run({ owner: currentOwner(), throwIfLeft: check }, work);
}

interface WaitingWork {
  readonly owner: string;
  readonly begin: () => void;
}

/**
 * Limits the work of all requests together in one turn of the event loop. Each request may be short, but many that
 * arrive together would otherwise all run before anything else. Owners that wait are served in turn: each takes as much
 * work as one turn of the event loop has, or all that it waits for.
 */
export class EventLoopBudget {
  readonly #perTurn: number;
  readonly #waiting = new FairQueue<WaitingWork>();
  #left: number;
  #isScheduled = false;
  /** The owner that is served, and what is left of its share. */
  #served: string | null = null;
  #leftOfServed = 0;

  /** @param perTurn the work in one turn, in a unit of the caller; the last work of a turn may exceed it */
  constructor(perTurn: number) {
    this.#perTurn = perTurn;
    this.#left = perTurn;
  }

  /**
   * Takes work from the budget of a turn, and resolves in that turn: immediately, or when it is the owner's turn.
   * @param work the amount, or an estimate
   * @throws what the check of `runForClient` throws
   */
  async take(work: number): Promise<void> {
    if (this.canBegin) this.spend(work);
    else await this.#inTurn(() => this.spend(work));
  }

  /**
   * Does work whose size is known only afterwards, in a turn with some budget left.
   * @param sizeOf returns the size of the work from its result
   * @throws what the work throws, or the check of `runForClient`
   */
  async run<Result>(work: () => Result, sizeOf: (result: Result) => number): Promise<Result> {
    const runNow = () => {
      const result = work();
      this.spend(sizeOf(result));
      return result;
    };
    return this.canBegin ? runNow() : this.#inTurn(runNow);
  }

  /** Takes work from this turn's budget without waiting, to correct an estimate. A negative number returns some. */
  spend(work: number): void {
    this.#left = Math.min(this.#perTurn, this.#left - work);
    this.#leftOfServed -= work;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // Each turn may schedule the next, and would keep the client that the first one began for.
    workOwner.exit(() => clock.setImmediate(() => this.#beginTurn()));
  }

  /** Whether work may begin in this turn without waiting. */
  get canBegin(): boolean {
    return this.#left > 0 && this.#waiting.size === 0;
  }

  #inTurn<Result>(work: () => Result): Promise<Result> {
    const owner = currentOwner();
    const client = workOwner.getStore();
    return new Promise((resolve, reject) => {
      const begin = () => {
        try {
          client?.throwIfLeft();
          resolve(work());
        } catch (error) {
          reject(error);
        }
      };
      this.#waiting.push(owner, { owner, begin });
    });
  }

  #beginTurn(): void {
    this.#isScheduled = false;
    this.#left = this.#perTurn;
    this.#serveNext();
  }

  /**
   * Serves one piece of waiting work. The next one is served in the same turn after all that this one has started, which
   * may correct its estimate or ask for more.
   */
  #serveNext(): void {
    if (this.#left <= 0) return;
    const next = this.#next();
    if (next === undefined) return;
    next.begin();
    // A tick from within a microtask runs after all other microtasks.
    queueMicrotask(() => process.nextTick(() => this.#serveNext()));
  }

  #next(): WaitingWork | undefined {
    const canContinue = this.#served !== null && this.#leftOfServed > 0 && this.#waiting.sizeOf(this.#served) > 0;
    const next = this.#waiting.shift(canContinue ? (owner) => owner === this.#served : undefined);
    if (canContinue || next === undefined) return next;
    this.#served = next.owner;
    this.#leftOfServed = this.#perTurn;
    return next;
  }
}

/** Work on a larger body takes milliseconds. */
export const largeBodyBytes = 64 * 1024;

/** Allows one piece of long work on bodies in each turn of the event loop. Call `take(1)` before each piece. */
export const heavyWork = new EventLoopBudget(1);
