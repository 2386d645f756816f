import { type Failure, failure } from '#domain/shared/failure.ts';
import type { FairPlacesLimits, FairSlotsLimits, SlotRefusal } from '#shared/async/fair-queue.ts';
import { type ByteLimits, projectAnswersFull } from './byte-budget.ts';

interface Row<Limits> {
  /** What it limits. */
  readonly of: string;
  readonly limits: Limits;
  /** The variables of the environment that change the limits. */
  readonly variables?: ReadonlyArray<string>;
}

/** Slots, for which callers wait in turn. */
export interface SlotRow extends Row<FairSlotsLimits> {
  /** Whose slots are limited. Default: a project's. */
  readonly owner?: 'key';
  /** The bytes that must have room when the turn has come, since the wait may have taken long. */
  readonly within?: 'answer';
  /** Whether each partner, or each organization without one, has these limits for itself. */
  readonly isForEachPartner?: boolean;
  readonly refused: Failure | Readonly<Record<SlotRefusal, Failure>>;
}

/** A room, in which places and bytes are taken immediately or not at all. */
export interface RoomRow extends Row<FairPlacesLimits> {
  /** The codes of what is refused; empty where nothing fails. */
  readonly refused: ReadonlyArray<Failure['code']>;
}

/** A budget of the bytes of requests. */
export interface BytesRow extends Row<ByteLimits> {
  readonly refused: ReadonlyArray<Failure['code']>;
}

const mebibyte = 1024 * 1024;
const soon = { retryAfterSeconds: 1 };
const unavailable = (detail: string) => failure('unavailable', detail, soon);

const slots = {
  'query answer': {
    of: 'answers of queries that are made or written; a list has up to 2 MiB',
    limits: { maxSlotsOfOwner: 16, maxWaitingOfOwner: 1_000, maxWaitMs: 10_000 },
    within: 'answer',
    refused: projectAnswersFull,
  },
  'command answer': {
    of: 'answers of commands that are made or written; each has less than 1 MiB, but waits for stores',
    limits: { maxSlotsOfOwner: 64, maxWaitingOfOwner: 1_000, maxWaitMs: 10_000 },
    within: 'answer',
    refused: projectAnswersFull,
  },
  // A page that is being made takes some times its 2 MiB. `query answer` limits those of a project that wait.
  page: {
    of: 'pages of lists, histories and dashboards that are made',
    limits: { maxSlots: 16, maxSlotsOfOwner: 4, maxWaitMs: 30_000 },
    refused: unavailable('Too many lists, histories, dashboards and exports are being made. Try again later.'),
  },
  // Each open export has one part at most, so connections limit those that wait.
  'export part': {
    of: 'parts of exports that are made',
    limits: { maxSlots: 8, maxSlotsOfOwner: 2, maxWaitMs: 60_000 },
    refused: unavailable('Too many exports are being made now.'),
  },
  // Those of many projects may wait, so that no few of them keep the others out.
  'large comparison': {
    of: 'comparisons of large versions in a thread, with up to 4 MiB of text each',
    limits: { maxSlots: 1, maxWaiting: 64, maxWaitingOfOwner: 2, maxWaitMs: 10_000 },
    refused: {
      'owner-waits': failure(
        'too-many-calls',
        'Two comparisons of large versions of this project wait already. Send them one after another.',
        soon,
      ),
      'all-wait': unavailable('Too many large versions are being compared now.'),
      'too-late': unavailable('The comparison took longer than 10 s.'),
    },
  },
  // One may read ten lists, and clients ask with each letter.
  completion: {
    of: 'completions of MCP',
    owner: 'key',
    limits: { maxSlotsOfOwner: 1, maxWaitingOfOwner: 10, maxWaitMs: 1_000 },
    refused: failure('too-many-calls', 'Another completion of this key is running. Send them one after another.', soon),
  },
  'endpoint creation': {
    of: 'creations of webhook endpoints',
    isForEachPartner: true,
    limits: { maxSlots: 1, maxWaiting: 5_000, maxWaitingOfOwner: 500, maxWaitMs: 10_000 },
    refused: unavailable('Too many webhook endpoints are being created at once.'),
  },
  // Each may have a hundred entries of 64 KiB.
  'past entries': {
    of: 'parts of the past in memory, for live feeds',
    limits: { maxSlots: 8, maxSlotsOfOwner: 2, maxWaitMs: 300_000 },
    refused: unavailable('Too many past entries are being read just now.'),
  },
} satisfies Readonly<Record<string, SlotRow>>;

const rooms = {
  'live feed': {
    of: 'live feeds that are open',
    limits: { maxPlaces: 2_000, maxPlacesOfOwner: 1_000 },
    variables: ['MAX_LIVE_FEEDS', 'MAX_LIVE_FEEDS_PER_PROJECT'],
    refused: ['too-many-feeds', 'feeds-full'],
  },
  'position wait': {
    of: 'callers that wait until read models or processes have passed a position; a further one does not wait',
    limits: { maxPlaces: 10_000 },
    refused: [],
  },
} satisfies Readonly<Record<string, RoomRow>>;

const bytes = {
  body: {
    of: 'bodies of requests in memory',
    limits: { maxBytes: 512 * mebibyte, maxBytesPerProject: 128 * mebibyte },
    variables: ['MAX_BODY_BYTES_IN_FLIGHT', 'MAX_BODY_BYTES_IN_FLIGHT_PER_PROJECT'],
    refused: ['too-many-body-bytes', 'bodies-full'],
  },
  answer: {
    of: 'answers that clients have not taken yet',
    limits: { maxBytes: 128 * mebibyte, maxBytesPerProject: 32 * mebibyte },
    variables: ['MAX_ANSWER_BYTES_IN_FLIGHT', 'MAX_ANSWER_BYTES_IN_FLIGHT_PER_PROJECT'],
    refused: ['too-many-answer-bytes', 'answers-full'],
  },
} satisfies Readonly<Record<string, BytesRow>>;

/**
 * Everything that limits how much runs or waits at the same time. docs/operations.md and `/metrics` show it by name.
 * `Admission` makes the slots, the room or the budget of each row.
 */
export const slotTable = { slots, rooms, bytes };

export type SlotName = keyof typeof slots;
export type RoomName = keyof typeof rooms;
/** The directions of the bytes of a request, and what else has a budget of bytes. */
export type BytesName = keyof typeof bytes;

/** Limits that replace those of the table; what is left out is as in the table. */
export interface ChangedLimits {
  readonly slots?: Readonly<Partial<Record<SlotName, FairSlotsLimits>>>;
  readonly rooms?: Readonly<Partial<Record<RoomName, FairPlacesLimits>>>;
  readonly bytes?: Readonly<Partial<Record<BytesName, Partial<ByteLimits>>>>;
}
