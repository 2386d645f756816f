import { setImmediate as nextTurn } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import type { Caller } from '#domain/shared/access.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { FairPlaces, FairSlots, type LeaveSlot, type SlotRefusal } from '#shared/async/fair-queue.ts';
import { bodyShortageFailure } from './body.ts';
import { answerShortageFailure, answersFull, ByteBudget } from './byte-budget.ts';
import { CallLimits } from './call-limits.ts';
import { CallSlots } from './call-slots.ts';
import type { GiveBack, Held } from './held.ts';
import { RateLimit, type RateLimitResult, unlimited } from './rate-limit.ts';
import {
  type BatchSlotName,
  type BytesName,
  type ChangedLimits,
  type RoomName,
  type SlotName,
  type SlotRow,
  slotTable,
} from './slot-table.ts';

export type Holder = Pick<Held, 'owner' | 'add'>;

/** Returns why there is no place among the connections for a caller. */
export type TakePlace = (caller: Caller) => Failure | null;

/** The owner of a slot, where it is not the holder's owner. */
interface SlotOwner {
  readonly owner: string;
  /** The partner, or the organization without one, where each has the limits for itself. */
  readonly group?: string;
}

type LimitName = keyof typeof slotTable.requests | SlotName | BatchSlotName | RoomName | BytesName;

export interface LimitFigures {
  /** The taken slots or places; bytes where only these are limited. */
  readonly taken: number;
  readonly waiting: number;
  /** Refused calls since the start. */
  readonly refused: number;
  /** The limit of the node in the unit of `taken`; null without one. */
  readonly limit: number | null;
}

interface AdmissionOptions {
  readonly limits?: ChangedLimits;
  /** Counts the bytes of bodies together with another admission. Default: a budget of its own. */
  readonly bodies?: ByteBudget;
}

/**
 * What limits how much runs or waits at the same time is a row of `slotTable`, and is made here. Each thread has its
 * own.
 */
export class Admission {
  /** Rooms, of which something is taken immediately or not at all. */
  readonly rooms: Readonly<Record<RoomName, FairPlaces>>;
  readonly budgets: Readonly<Record<BytesName, ByteBudget>>;
  /** The slots of batches, which projects and their batches get in turn. */
  readonly batches: Readonly<Record<BatchSlotName, CallSlots>>;
  /** The calls of the gateway, whose configuration sets their limits. */
  readonly calls = new CallLimits({});
  readonly #slots: Readonly<Record<SlotName, RowSlots>>;
  readonly #rate: RateLimit | null;

  constructor({ limits: { slots, rooms, bytes, batches, requests } = {}, bodies }: AdmissionOptions = {}) {
    const perMinute = requests?.perMinute ?? null;
    this.#rate = perMinute === null ? null : new RateLimit(perMinute, requests?.factors);
    this.batches = eachRow(
      slotTable.batches,
      ({ limits }, name) => new CallSlots(batches?.[name]?.maxSlots ?? limits.maxSlots),
    );
    this.#slots = eachRow(slotTable.slots, (row: SlotRow, name) => new RowSlots(row, slots?.[name]));
    this.rooms = eachRow(slotTable.rooms, ({ limits }, name) => new FairPlaces({ ...limits, ...rooms?.[name] }));
    const budgets = eachRow(slotTable.bytes, ({ limits }, name) => new ByteBudget({ ...limits, ...bytes?.[name] }));
    this.budgets = bodies === undefined ? budgets : { ...budgets, body: bodies };
  }

  /**
   * A known caller is admitted by the rate of its project, then its place among the connections, then the bytes of
   * answers. What is refused by a later limit has counted in the earlier ones.
   * @param takePlace takes a place for a request that has none yet; null if it has one
   */
  async enter(caller: Caller, takePlace: TakePlace | null = null): Promise<RateLimitResult> {
    const limited = this.#rate === null ? unlimited : await this.#rate.take(caller);
    if (limited.refusal !== null) return limited;
    const withoutPlace = takePlace?.(caller) ?? null;
    if (withoutPlace !== null) return { ...limited, refusal: withoutPlace };
    const shortage = this.budgets.answer.fullFor(caller.projectId);
    return shortage === null ? limited : { ...limited, refusal: answerShortageFailure(shortage) };
  }

  /**
   * Takes bytes that a request will hold in memory. Those of an answer count against the node alone, because its request
   * was admitted.
   * @returns why there is no room for them; null if they are counted
   */
  bytes(held: Held, direction: 'body' | 'answer', count: number): Failure | null {
    if (direction === 'answer') return held.answer.takeBegun(count) ? null : answersFull;
    const shortage = held.body.take(count);
    return shortage === null ? null : bodyShortageFailure(shortage);
  }

  /**
   * Waits for a slot. Its holder has it until it gives it back, or is released. One that was released meanwhile gets none,
   * because its request has ended, but no failure either.
   * @param whose default: the holder's owner
   * @returns gives it back; or why there is none
   */
  async slot(held: Holder, name: SlotName, whose: SlotOwner = held): Promise<E.Either<Failure, GiveBack>> {
    const slots = this.#slots[name];
    const leave = await slots.enter(whose);
    if (typeof leave === 'string') return E.left(slots.failureOf(leave));
    const { within } = slots.row;
    const shortage = within === undefined ? null : this.budgets[within].fullFor(whose.owner);
    if (shortage === null) return E.right(held.add(leave));
    // Otherwise all that wait would be refused in one turn of the event loop.
    await nextTurn();
    leave();
    return E.left(answerShortageFailure(shortage));
  }

  figures(): Readonly<Record<LimitName, LimitFigures>> {
    return {
      ...eachRow(this.#slots, (slots: RowSlots) => slots.figures()),
      ...eachRow(this.batches, ({ taken, waiting, calls: limit }: CallSlots) => ({
        taken,
        waiting,
        refused: 0,
        limit,
      })),
      request: { ...unlimitedFigures, refused: this.#rate?.refused ?? 0 },
      'gateway request': { ...unlimitedFigures, refused: this.calls.refusedRequests },
      'gateway call': { ...unlimitedFigures, taken: this.calls.running, refused: this.calls.refusedCalls },
      ...eachRow(this.rooms, (room: FairPlaces) => figuresOfRoom(room)),
      ...eachRow(this.budgets, ({ bytes: taken, refused, maxBytes }: ByteBudget) => ({
        taken,
        waiting: 0,
        refused,
        limit: maxBytes,
      })),
    };
  }
}

const unlimitedFigures: LimitFigures = { taken: 0, waiting: 0, refused: 0, limit: null };

function figuresOfRoom({ limits, taken, bytes, refused }: FairPlaces): LimitFigures {
  const { maxPlaces, maxBytes } = limits;
  if (maxPlaces === Number.POSITIVE_INFINITY) return { taken: bytes, waiting: 0, refused, limit: maxBytes };
  return { taken, waiting: 0, refused, limit: maxPlaces };
}

const wholeNode = '';

/** One set of slots for the node, or one for each group. */
class RowSlots {
  readonly row: SlotRow;
  readonly #limits: SlotRow['limits'];
  /** The slots of each group that has or wants one. */
  readonly #groups = new Map<string, FairSlots>();
  #refused = 0;

  constructor(row: SlotRow, changed: SlotRow['limits'] = {}) {
    this.row = row;
    this.#limits = { ...row.limits, ...changed };
    if (row.isForEachPartner !== true) this.#groups.set(wholeNode, new FairSlots(this.#limits));
  }

  async enter({ owner, group = wholeNode }: SlotOwner): Promise<LeaveSlot | SlotRefusal> {
    const slots = this.#groups.get(group) ?? new FairSlots(this.#limits);
    this.#groups.set(group, slots);
    const leave = await slots.enter(owner);
    if (typeof leave === 'string') {
      this.#refused += 1;
      return leave;
    }
    return group === wholeNode ? leave : () => this.#leaveGroup(group, slots, leave);
  }

  #leaveGroup(group: string, slots: FairSlots, leave: LeaveSlot): void {
    leave();
    if (slots.taken === 0) this.#groups.delete(group);
  }

  failureOf(refusal: SlotRefusal): Failure {
    const { refused } = this.row;
    return 'code' in refused ? refused : refused[refusal];
  }

  figures(): LimitFigures {
    let taken = 0;
    let waiting = 0;
    for (const slots of this.#groups.values()) {
      taken += slots.taken;
      waiting += slots.waiting;
    }
    const { maxSlots = null } = this.#limits;
    return { taken, waiting, refused: this.#refused, limit: this.row.isForEachPartner === true ? null : maxSlots };
  }
}

function eachRow<Name extends string, Row, Part>(
  rows: Readonly<Record<Name, Row>>,
  make: (row: Row, name: Name) => Part,
): Readonly<Record<Name, Part>> {
  const made = Object.entries<Row>(rows).map(([name, row]) => [name, make(row, name as Name)]);
  return Object.fromEntries(made) as Record<Name, Part>;
}
