import { AsyncLocalStorage } from 'node:async_hooks';
import { FairQueue, type WorkOwner } from '#shared/async/fair-queue.ts';
import { clock } from '#shared/clock.ts';
import { ClientDisconnectedError } from './held.ts';

/** Kinds of work. While several wait, each has at most half of a turn. */
export type TurnKind =
  /** Reading a large body, or making another one of it. */
  | 'body'
  /** Reading or writing a whole answer. */
  | 'answer'
  /** Reading the events of providers' streams. */
  | 'stream'
  /** Searching the stored turns of conversations. */
  | 'conversation'
  /** Comparing two versions. */
  | 'comparison'
  /** Pages of lists. */
  | 'list'
  /** Pages of histories. */
  | 'history'
  /** Entries of the audit, of feeds and of webhooks. */
  | 'audit'
  /** Lists as they were. */
  | 'past'
  /** Reading and sealing events. */
  | 'log'
  /** Ending connections of requests that are not HTTP. */
  | 'connection';

export interface WaitingWork {
  readonly held: WorkOwner;
  readonly kind: TurnKind;
  readonly begin: () => void;
  /** Ends the wait for a client that has left. */
  readonly giveUp: () => void;
}

/** The waiting work of a project, by kind, and what is left of its share. */
interface Project {
  readonly kinds: FairQueue<WaitingWork>;
  left: number;
}

/**
 * Decides which work runs in a turn of the event loop, and in which order. Projects are served in turn: each takes as
 * much work as a turn has, or all that it waits for. A project's kinds of work are served in turn, too, and while several
 * kinds wait, of any projects, each has at most half of a turn; what a large piece takes beyond that, the kind lacks in the
 * next turns. A project that may not be served for this keeps its place and its share. The last piece of a turn may exceed
 * all of this.
 */
export class TurnQueue {
  readonly #workOfTurn: number;
  /**
   * The projects in the order in which they are served. One that has had its share goes to the end when it is next met.
   */
  readonly #byOwner = new Map<string, Project>();
  /** The number of waiting pieces by kind; no entry for none. */
  readonly #waitingOf = new Map<TurnKind, number>();
  /** The work of each kind in this turn, and what exceeded its half before. */
  readonly #spentOn = new Map<TurnKind, number>();
  #size = 0;
  #left: number;

  constructor(workOfTurn: number) {
    this.#workOfTurn = workOfTurn;
    this.#left = workOfTurn;
  }

  get size(): number {
    return this.#size;
  }

  /** True if work can begin in this turn, without waiting. */
  get canBegin(): boolean {
    return this.#left > 0 && this.#size === 0;
  }

  beginTurn(): void {
    this.#left = this.#workOfTurn;
    // If no kind had room in this turn, time would pass without work.
    const leastSpent = Math.min(...Array.from(this.#waitingOf.keys(), (kind) => this.#spent(kind)));
    const forgiven = Math.max(leastSpent, this.#workOfTurn / 2);
    for (const [kind, spent] of this.#spentOn) this.#spentOn.set(kind, Math.max(0, spent - forgiven));
    // A project that waits for one piece after the other keeps its place between them.
    for (const [owner, { kinds }] of this.#byOwner) if (kinds.size === 0) this.#byOwner.delete(owner);
  }

  /** Counts work. A negative number gives some back. */
  spend({ owner }: WorkOwner, kind: TurnKind, work: number): void {
    this.#left = Math.min(this.#workOfTurn, this.#left - work);
    // While no other kind waits, a kind takes all that there is, and owes nothing for it later.
    const spent = this.#isAlone(kind) ? 0 : this.#spent(kind);
    this.#spentOn.set(kind, Math.max(0, spent + work));
    const project = this.#byOwner.get(owner);
    if (project !== undefined) project.left -= work;
  }

  push(work: WaitingWork): void {
    const { held, kind } = work;
    const project = this.#byOwner.get(held.owner) ?? { kinds: new FairQueue(), left: this.#workOfTurn };
    this.#byOwner.set(held.owner, project);
    project.kinds.push(kind, work);
    this.#count(kind, 1);
  }

  /** Removes the work that is served next; undefined if nothing may begin any more in this turn. */
  shift(): WaitingWork | undefined {
    if (this.#left <= 0) return undefined;
    for (const [owner, project] of this.#byOwner) {
      if (project.left <= 0) {
        project.left = this.#workOfTurn;
        this.#byOwner.delete(owner);
        this.#byOwner.set(owner, project);
        continue;
      }
      const next = project.kinds.shift((kind) => this.#mayServe(kind as TurnKind));
      if (next === undefined) continue;
      this.#count(next.kind, -1);
      return next;
    }
    return undefined;
  }

  removeLeft(): ReadonlyArray<WaitingWork> {
    const removed: WaitingWork[] = [];
    for (const { kinds } of this.#byOwner.values())
      for (const left of kinds.remove(({ held }) => held.hasLeft)) removed.push(left);
    for (const { kind } of removed) this.#count(kind, -1);
    return removed;
  }

  #mayServe(kind: TurnKind): boolean {
    return this.#isAlone(kind) || this.#spent(kind) < this.#workOfTurn / 2;
  }

  #isAlone(kind: TurnKind): boolean {
    return this.#size === 0 || (this.#waitingOf.size === 1 && this.#waitingOf.has(kind));
  }

  #spent(kind: TurnKind): number {
    return this.#spentOn.get(kind) ?? 0;
  }

  #count(kind: TurnKind, pieces: number): void {
    this.#size += pieces;
    const waiting = (this.#waitingOf.get(kind) ?? 0) + pieces;
    if (waiting === 0) this.#waitingOf.delete(kind);
    else this.#waitingOf.set(kind, waiting);
  }
}

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
 * Gives turns to the work of requests. Each may be short, but many that arrive together would otherwise all run before
 * anything else. Work begins immediately while the turn has room and nothing waits; `TurnQueue` says what is served
 * when. Work that waits ends when its client has left.
 */
export class Turns {
  readonly #queue: TurnQueue;
  #isScheduled = false;

  /** @param workPerTurn in characters; the last piece of a turn may exceed it */
  constructor(workPerTurn: number) {
    this.#queue = new TurnQueue(workPerTurn);
  }

  /**
   * work the amount, or an estimate that `spend` corrects
   * @returns null if the work may begin now; otherwise it settles in the turn in which it may. It rejects with
   *   `ClientDisconnectedError` if the client leaves before
   */
  take(held: WorkOwner, kind: TurnKind, work: number): Promise<void> | null {
    if (!this.#queue.canBegin) return this.#wait(held, kind, () => this.spend(held, kind, work));
    this.spend(held, kind, work);
    return null;
  }

  /**
   * Runs work whose size is known only afterwards.
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

  /** Corrects an estimate without waiting. A negative number gives some back. */
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

  /**
   * Schedules the next turn outside of a request. Each turn may schedule the next, and would keep the request that the
   * first one began for.
   */
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

/** See `Turns.take`. */
export function turn(held: WorkOwner, kind: TurnKind, work: number): Promise<void> | null {
  return used.take(held, kind, work);
}

/** See `Turns.run`. */
export function runInTurn<Result>(
  held: WorkOwner,
  kind: TurnKind,
  work: () => Result,
  sizeOf: (result: Result) => number,
): Result | Promise<Result> {
  return used.run(held, kind, work, sizeOf);
}

/** See `Turns.spend`. */
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
