import { FairQueue, type WorkOwner } from '#shared/async/fair-queue.ts';

/** What work in turns is for. While several kinds wait, each has at most half of a turn. */
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

/** A piece of work that waits for a turn. */
export interface WaitingWork {
  readonly held: WorkOwner;
  readonly kind: TurnKind;
  readonly begin: () => void;
  /** Ends the wait of a client that has left. */
  readonly giveUp: () => void;
}

/**
 * Decides which work runs in a turn of the event loop, and in which order. Projects are served in turn: each takes as
 * much work as a turn has, or all that it waits for. A project's kinds of work are served in turn, too, and while several
 * kinds wait, of any projects, each has at most half of a turn. The last piece of a turn may exceed all of this.
 */
export class TurnQueue {
  readonly #workOfTurn: number;
  /** The waiting work of each owner, by kind. The owner that was served last is at the end. */
  readonly #byOwner = new Map<string, FairQueue<WaitingWork>>();
  /** How many pieces of each kind wait; no entry for none. */
  readonly #waitingOf = new Map<TurnKind, number>();
  /** The work of each kind in this turn. */
  readonly #spentOn = new Map<TurnKind, number>();
  #size = 0;
  #left: number;
  /** The owner that is served, and what is left of its share. */
  #served: string | null = null;
  #leftOfServed = 0;

  constructor(workOfTurn: number) {
    this.#workOfTurn = workOfTurn;
    this.#left = workOfTurn;
  }

  /** The number of pieces that wait. */
  get size(): number {
    return this.#size;
  }

  /** Whether work may begin in this turn without waiting. */
  get canBegin(): boolean {
    return this.#left > 0 && this.#size === 0;
  }

  beginTurn(): void {
    this.#left = this.#workOfTurn;
    this.#spentOn.clear();
  }

  /** Takes work from this turn. A negative number gives some back. */
  spend({ owner }: WorkOwner, kind: TurnKind, work: number): void {
    this.#left = Math.min(this.#workOfTurn, this.#left - work);
    this.#spentOn.set(kind, Math.max(0, this.#spent(kind) + work));
    if (owner === this.#served) this.#leftOfServed -= work;
  }

  push(work: WaitingWork): void {
    const { held, kind } = work;
    const known = this.#byOwner.get(held.owner);
    const kinds = known ?? new FairQueue<WaitingWork>();
    if (known === undefined) this.#byOwner.set(held.owner, kinds);
    kinds.push(kind, work);
    this.#count(kind, 1);
  }

  /** Removes the work that is served next; undefined if nothing may begin any more in this turn. */
  shift(): WaitingWork | undefined {
    if (this.#left <= 0) return undefined;
    if (this.#served !== null && this.#leftOfServed > 0) {
      const more = this.#shiftOf(this.#served);
      if (more !== undefined) return more;
    }
    for (const owner of this.#byOwner.keys()) {
      const next = this.#shiftOf(owner);
      if (next === undefined) continue;
      this.#served = owner;
      this.#leftOfServed = this.#workOfTurn;
      return next;
    }
    return undefined;
  }

  /** Removes the work of clients that have left. */
  removeLeft(): ReadonlyArray<WaitingWork> {
    const removed: WaitingWork[] = [];
    for (const [owner, kinds] of this.#byOwner) {
      removed.push(...kinds.remove(({ held }) => held.hasLeft));
      if (kinds.size === 0) this.#byOwner.delete(owner);
    }
    for (const { kind } of removed) this.#count(kind, -1);
    return removed;
  }

  #shiftOf(owner: string): WaitingWork | undefined {
    const kinds = this.#byOwner.get(owner);
    const next = kinds?.shift((kind) => this.#mayServe(kind as TurnKind));
    if (kinds === undefined || next === undefined) return undefined;
    this.#byOwner.delete(owner);
    if (kinds.size > 0) this.#byOwner.set(owner, kinds);
    this.#count(next.kind, -1);
    return next;
  }

  #mayServe(kind: TurnKind): boolean {
    return this.#waitingOf.size === 1 || this.#spent(kind) < this.#workOfTurn / 2;
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
