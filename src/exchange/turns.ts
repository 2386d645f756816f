import { AsyncLocalStorage } from 'node:async_hooks';
import type { WorkOwner } from '#shared/async/fair-queue.ts';
import { clock } from '#shared/clock.ts';
import { ClientDisconnectedError } from './held.ts';
import { type TurnKind, TurnQueue } from './turn-queue.ts';

/**
 * The work of all requests together in one turn of the event loop, in characters: of JSON that is parsed, folded or
 * written, of bytes that are scanned. A character takes about 10 ns, so a turn takes about 1.5 ms, and whoever asks for
 * little waits for that and for the last piece, several times in one request. Lists, histories and the audit had this
 * much each when each had a budget of its own; now they have it together, and a kind that is not alone has half of it.
 *
 * A piece that cannot be divided says its whole size. From this size on it has a turn of its own: the parsing of a large
 * body, or a slice of one that is scanned.
 */
export const workOfTurn = 128 * 1024;

/** Work on a larger body takes milliseconds, so it waits for its turn. */
export const largeBodyBytes = 64 * 1024;

/** The context of no request. */
const runOutside = AsyncLocalStorage.snapshot();

/**
 * Limits the work of all requests together in one turn of the event loop. Each request may be short, but many that arrive
 * together would otherwise all run before anything else. Work begins immediately while the turn has room and nothing
 * waits; `TurnQueue` says what is served when. Work that waits ends when its client has left.
 */
export class Turns {
  readonly #queue: TurnQueue;
  #isScheduled = false;

  /** @param workPerTurn in characters; the last piece of a turn may exceed it */
  constructor(workPerTurn: number) {
    this.#queue = new TurnQueue(workPerTurn);
  }

  /**
   * Takes work from a turn.
   * @param work the amount, or an estimate that `spend` corrects
   * @returns null if the work may begin now; otherwise it settles in the turn in which it may. It rejects with
   *   `ClientDisconnectedError` if the client leaves before
   */
  take(held: WorkOwner, kind: TurnKind, work: number): Promise<void> | null {
    if (!this.#queue.canBegin) return this.#wait(held, kind, () => this.spend(held, kind, work));
    this.spend(held, kind, work);
    return null;
  }

  /**
   * Does work whose size is known only afterwards, in a turn with some room.
   * @param sizeOf returns the size of the work from its result
   * @throws what the work throws; `ClientDisconnectedError` if it waits and the client leaves
   */
  run<Result>(
    held: WorkOwner,
    kind: TurnKind,
    work: () => Result,
    sizeOf: (result: Result) => number,
  ): Result | Promise<Result> {
    const runNow = () => {
      const result = work();
      this.spend(held, kind, sizeOf(result));
      return result;
    };
    return this.#queue.canBegin ? runNow() : this.#wait(held, kind, runNow);
  }

  /** Takes work from this turn without waiting, to correct an estimate. A negative number returns some. */
  spend(held: WorkOwner, kind: TurnKind, work: number): void {
    this.#queue.spend(held, kind, work);
    this.#schedule();
  }

  #wait<Result>(held: WorkOwner, kind: TurnKind, work: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      };
      const giveUp = () => reject(new ClientDisconnectedError('The client left before the work for it began.'));
      this.#queue.push({ held, kind, begin, giveUp });
    });
  }

  /** Each turn may schedule the next, and would keep the request that the first one began for. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    runOutside(() => clock.setImmediate(() => this.#beginTurn()));
  }

  #beginTurn(): void {
    this.#isScheduled = false;
    this.#queue.beginTurn();
    if (this.#queue.size === 0) return;
    for (const left of this.#queue.removeLeft()) left.giveUp();
    this.#serveNext();
  }

  /**
   * Serves one piece of waiting work. The next one is served in the same turn after all that this one has started, which
   * may correct its estimate or ask for more.
   */
  #serveNext(): void {
    const next = this.#queue.shift();
    if (next === undefined) {
      if (this.#queue.size > 0) this.#schedule();
      return;
    }
    if (next.held.hasLeft) next.giveUp();
    else next.begin();
    // A tick from within a microtask runs after all other microtasks.
    queueMicrotask(() => process.nextTick(() => this.#serveNext()));
  }
}

let used = new Turns(workOfTurn);

/** Takes work from a turn of this thread's event loop: see `Turns.take`. */
export function turn(held: WorkOwner, kind: TurnKind, work: number): Promise<void> | null {
  return used.take(held, kind, work);
}

/** Does work whose size is known afterwards in a turn of this thread's event loop: see `Turns.run`. */
export function runInTurn<Result>(
  held: WorkOwner,
  kind: TurnKind,
  work: () => Result,
  sizeOf: (result: Result) => number,
): Result | Promise<Result> {
  return used.run(held, kind, work, sizeOf);
}

/** Corrects an estimate of work in a turn of this thread's event loop: see `Turns.spend`. */
export function spendTurn(held: WorkOwner, kind: TurnKind, work: number): void {
  used.spend(held, kind, work);
}

/** Begins with an empty turn in which nothing waits. Only for tests. @returns a function that puts the others back */
export function replaceTurns(): () => void {
  const others = used;
  used = new Turns(workOfTurn);
  return () => {
    used = others;
  };
}
