import { setImmediate as nextTurn } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import { FairPlaces, FairSlots, type LeaveSlot, type SlotRefusal } from '#shared/async/fair-queue.ts';
import { answerShortageFailure, ByteBudget } from './byte-budget.ts';
import type { GiveBack, Held } from './held.ts';
import {
  type BytesName,
  type ChangedLimits,
  type RoomName,
  type SlotName,
  type SlotRow,
  slotTable,
} from './slot-table.ts';

/** Whose slot it is, and what it is added to. */
export type Holder = Pick<Held, 'owner' | 'add'>;

/** Whose slot it is, where it is not the holder's owner. */
export interface SlotOwner {
  readonly owner: string;
  /** The partner, or the organization without one, where each has the limits for itself. */
  readonly group?: string;
}

/** The name of a row of the table. */
export type LimitName = SlotName | RoomName | BytesName;

/** What is taken of a row of the table. */
export interface LimitFigures {
  /** Slots or places; bytes where only these are limited. */
  readonly taken: number;
  readonly waiting: number;
  /** Since the start. */
  readonly refused: number;
  /** The limit of the node in the unit of `taken`; null without one. */
  readonly limit: number | null;
}

/** The options of `Admission`. */
export interface AdmissionOptions {
  readonly limits?: ChangedLimits;
}

/**
 * Decides whether work may begin. What limits how much runs or waits at the same time is a row of `slotTable`, and is made
 * here. Each thread has its own.
 */
export class Admission {
  /** Where something is taken immediately or not at all. */
  readonly rooms: Readonly<Record<RoomName, FairPlaces>>;
  /** The bytes of requests. */
  readonly budgets: Readonly<Record<BytesName, ByteBudget>>;
  readonly #slots: Readonly<Record<SlotName, RowSlots>>;

  constructor({ limits: { slots, rooms, bytes } = {} }: AdmissionOptions = {}) {
    this.#slots = eachRow(slotTable.slots, (row: SlotRow, name) => new RowSlots(row, slots?.[name]));
    this.rooms = eachRow(slotTable.rooms, ({ limits }, name) => new FairPlaces({ ...limits, ...rooms?.[name] }));
    this.budgets = eachRow(slotTable.bytes, ({ limits }, name) => new ByteBudget({ ...limits, ...bytes?.[name] }));
  }

  /**
   * Waits for a slot. Its holder has it until it gives it back, or is released.
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

  /** What is taken now, by name. */
  figures(): Readonly<Record<LimitName, LimitFigures>> {
    return {
      ...eachRow(this.#slots, (slots: RowSlots) => slots.figures()),
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

function figuresOfRoom({ limits, taken, bytes, refused }: FairPlaces): LimitFigures {
  const { maxPlaces, maxBytes } = limits;
  if (maxPlaces === Number.POSITIVE_INFINITY) return { taken: bytes, waiting: 0, refused, limit: maxBytes };
  return { taken, waiting: 0, refused, limit: maxPlaces };
}

const wholeNode = '';

/** The slots of one row: one set for the node, or one for each group. */
class RowSlots {
  readonly row: SlotRow;
  readonly #limits: SlotRow['limits'];
  /** Of each group that has or wants a slot. */
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
