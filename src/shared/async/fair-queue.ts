import { AsyncLocalStorage } from 'node:async_hooks';
import { clock, type Timer } from '#shared/clock.ts';

/** Owns work that belongs to no project. */
export const serviceOwner = 'service';

export interface WorkOwner {
  /** The id of a project, or `serviceOwner`. */
  readonly owner: string;
  /** True when the client that the work is for has left. */
  readonly hasLeft: boolean;
}

/** The owner of the work that runs now. Without one, it is the service's own. */
export const workOwner = new AsyncLocalStorage<WorkOwner>();

const serviceWork: WorkOwner = { owner: serviceOwner, hasLeft: false };

export function currentWorkOwner(): WorkOwner {
  return workOwner.getStore() ?? serviceWork;
}

/** The owner of work whose result may serve others too, so that it continues when the client has left. */
export function workForAll(): WorkOwner {
  return { owner: currentOwner(), hasLeft: false };
}

/** The id of a project, or `serviceOwner`. */
export function currentOwner(): string {
  return workOwner.getStore()?.owner ?? serviceOwner;
}

/**
 * Runs work for an owner. Queues that serve owners in turn count the work as the owner's, also after it has waited. No
 * client that leaves ends the work.
 * @param owner the id of a project, or `serviceOwner`
 */
export function runFor<Result>(owner: string, work: () => Result): Result {
  return workOwner.run({ owner, hasLeft: false }, work);
}

/** Serves owners in turn: one item of each, in the order in which the owner's items came. */
export class FairQueue<Item> {
  /** The items by owner. The owner that was served last is at the end. */
  readonly #byOwner = new Map<string, Item[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  sizeOf(owner: string): number {
    return this.#byOwner.get(owner)?.length ?? 0;
  }

  /** Adds an item behind the owner's others. */
  push(owner: string, item: Item): void {
    const items = this.#byOwner.get(owner);
    if (items === undefined) this.#byOwner.set(owner, [item]);
    else items.push(item);
    this.#size += 1;
  }

  /** Removes the next item. @param canServe whether it may be this owner's turn; by default it always may */
  shift(canServe: (owner: string) => boolean = () => true): Item | undefined {
    for (const [owner, items] of this.#byOwner) {
      if (!canServe(owner)) continue;
      const item = items.shift();
      this.#byOwner.delete(owner);
      if (items.length > 0) this.#byOwner.set(owner, items);
      this.#size -= 1;
      return item;
    }
    return undefined;
  }

  removeFirst(isRemoved: (item: Item) => boolean): ReadonlyArray<Item> {
    const removed: Item[] = [];
    for (const [owner, items] of this.#byOwner) {
      for (let [item] = items; item !== undefined && isRemoved(item); [item] = items) {
        items.shift();
        removed.push(item);
      }
      if (items.length === 0) this.#byOwner.delete(owner);
    }
    this.#size -= removed.length;
    return removed;
  }

  remove(isRemoved: (item: Item) => boolean): ReadonlyArray<Item> {
    const removed: Item[] = [];
    for (const [owner, items] of this.#byOwner) {
      const kept = items.filter((item) => !isRemoved(item));
      if (kept.length === items.length) continue;
      for (const item of items) if (isRemoved(item)) removed.push(item);
      if (kept.length === 0) this.#byOwner.delete(owner);
      else this.#byOwner.set(owner, kept);
    }
    this.#size -= removed.length;
    return removed;
  }
}

/** A limit that is left out is endless. */
export interface FairSlotsLimits {
  readonly maxSlots?: number;
  readonly maxSlotsOfOwner?: number;
  readonly maxWaiting?: number;
  readonly maxWaitingOfOwner?: number;
  /** Maximum wait, which may be up to a twentieth longer. */
  readonly maxWaitMs?: number;
}

/** Why a call gets no slot: too many of the owner's calls wait, too many wait in all, or the wait was too long. */
export type SlotRefusal = 'owner-waits' | 'all-wait' | 'too-late';

/** Leaves the slot. Further calls do nothing. */
export type LeaveSlot = () => void;

/** Number of checks in the time that a call may wait. */
const checksOfWait = 20;

interface Waiting {
  readonly owner: string;
  /** The end of the wait on this process's clock. */
  readonly deadline: number;
  readonly resolve: (result: LeaveSlot | SlotRefusal) => void;
}

/** Lets a limited number of callers work at the same time. Owners that wait, for example projects, get slots in turn. */
export class FairSlots {
  readonly #limits: Required<FairSlotsLimits>;
  readonly #waiting = new FairQueue<Waiting>();
  readonly #takenBy = new Map<string, number>();
  #taken = 0;
  /** One timer for all calls that wait, because one for each would cost more than most waits. */
  #timer: Timer | null = null;

  constructor(limits: FairSlotsLimits) {
    const endless = Number.POSITIVE_INFINITY;
    this.#limits = {
      maxSlots: endless,
      maxSlotsOfOwner: endless,
      maxWaiting: endless,
      maxWaitingOfOwner: endless,
      maxWaitMs: endless,
      ...limits,
    };
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Enters immediately or when it is the owner's turn. The caller must leave the slot. */
  async enter(owner: string): Promise<LeaveSlot | SlotRefusal> {
    if (this.#hasSlotFor(owner)) return this.#take(owner);
    const { maxWaiting, maxWaitingOfOwner, maxWaitMs } = this.#limits;
    if (this.#waiting.sizeOf(owner) >= maxWaitingOfOwner) return 'owner-waits';
    if (this.#waiting.size >= maxWaiting) return 'all-wait';
    return new Promise((resolve) => {
      this.#waiting.push(owner, { owner, deadline: clock.now() + maxWaitMs, resolve });
      this.#startTimer();
    });
  }

  #startTimer(): void {
    const { maxWaitMs } = this.#limits;
    if (maxWaitMs === Number.POSITIVE_INFINITY || this.#timer !== null) return;
    this.#timer = clock.setTimeout(() => this.#refuseLate(), Math.ceil(maxWaitMs / checksOfWait)).unref();
  }

  #refuseLate(): void {
    this.#timer = null;
    const now = clock.now();
    for (const late of this.#waiting.removeFirst(({ deadline }) => deadline <= now)) late.resolve('too-late');
    if (this.#waiting.size > 0) this.#startTimer();
  }

  #hasSlotFor(owner: string): boolean {
    return this.#taken < this.#limits.maxSlots && this.#takenOf(owner) < this.#limits.maxSlotsOfOwner;
  }

  #takenOf(owner: string): number {
    return this.#takenBy.get(owner) ?? 0;
  }

  #take(owner: string): LeaveSlot {
    this.#taken += 1;
    this.#takenBy.set(owner, this.#takenOf(owner) + 1);
    let isTaken = true;
    return () => {
      if (isTaken) this.#leave(owner);
      isTaken = false;
    };
  }

  #leave(owner: string): void {
    this.#taken -= 1;
    const left = this.#takenOf(owner) - 1;
    if (left === 0) this.#takenBy.delete(owner);
    else this.#takenBy.set(owner, left);
    const next = this.#waiting.shift((waiting) => this.#hasSlotFor(waiting));
    next?.resolve(this.#take(next.owner));
  }
}

/**
 * Divides a limited amount, for example places or bytes, among owners. An owner gets more only while it has less than
 * what is free, so there is always room for an owner that has nothing: one alone gets half, two get a third each. The
 * service's own work may take all.
 */
export class FairRoom {
  readonly #max: number;
  readonly #takenBy = new Map<string, number>();
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get taken(): number {
    return this.#taken;
  }

  takenBy(owner: string): number {
    return this.#takenBy.get(owner) ?? 0;
  }

  hasRoom(owner: string, amount = 1): boolean {
    const free = this.#max - this.#taken;
    return amount <= free && (owner === serviceOwner || this.takenBy(owner) < free);
  }

  /** Takes a part of the room. The caller must give it back. @returns false if there is no room for it */
  take(owner: string, amount = 1): boolean {
    if (!this.hasRoom(owner, amount)) return false;
    this.#count(owner, amount);
    return true;
  }

  giveBack(owner: string, amount = 1): void {
    this.#count(owner, -amount);
  }

  #count(owner: string, amount: number): void {
    this.#taken += amount;
    const ofOwner = this.takenBy(owner) + amount;
    if (ofOwner === 0) this.#takenBy.delete(owner);
    else this.#takenBy.set(owner, ofOwner);
  }
}

/** A limit that is left out is endless. */
export interface FairPlacesLimits {
  readonly maxPlaces?: number;
  readonly maxPlacesOfOwner?: number;
  readonly maxBytes?: number;
}

/** Places with bytes in them, both divided among owners as `FairRoom` does. */
export class FairPlaces {
  readonly #limits: Required<FairPlacesLimits>;
  readonly #places: FairRoom;
  readonly #bytes: FairRoom;
  #refused = 0;

  constructor(limits: FairPlacesLimits) {
    const endless = Number.POSITIVE_INFINITY;
    this.#limits = { maxPlaces: endless, maxPlacesOfOwner: endless, maxBytes: endless, ...limits };
    this.#places = new FairRoom(this.#limits.maxPlaces);
    this.#bytes = new FairRoom(this.#limits.maxBytes);
  }

  get limits(): Required<FairPlacesLimits> {
    return this.#limits;
  }

  get taken(): number {
    return this.#places.taken;
  }

  get bytes(): number {
    return this.#bytes.taken;
  }

  /** The number of refused calls. */
  get refused(): number {
    return this.#refused;
  }

  bytesOf(owner: string): number {
    return this.#bytes.takenBy(owner);
  }

  /** True if the owner has its maximum. */
  hasAll(owner: string): boolean {
    return this.#places.takenBy(owner) >= this.#limits.maxPlacesOfOwner;
  }

  /** Takes a place. The caller must give it back. @returns false if there is no room for it */
  take(owner: string, bytes = 0): boolean {
    const isTaken = !this.hasAll(owner) && this.#places.hasRoom(owner) && this.#bytes.take(owner, bytes);
    if (isTaken) this.#places.take(owner);
    else this.#refused += 1;
    return isTaken;
  }

  giveBack(owner: string, bytes = 0): void {
    this.#places.giveBack(owner);
    this.#bytes.giveBack(owner, bytes);
  }
}
