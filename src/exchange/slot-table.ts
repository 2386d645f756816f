import { type Failure, failure } from '#domain/shared/failure.ts';
import type { FairPlacesLimits, FairSlotsLimits, SlotRefusal } from '#shared/async/fair-queue.ts';
import { type ByteLimits, projectAnswersFull } from './byte-budget.ts';
import type { LimitFactors } from './limit-levels.ts';

interface Row<Limits> {
  /** Names what the row limits. */
  readonly of: string;
  readonly limits: Limits;
  /** Variables of the environment that change the limits. */
  readonly variables?: ReadonlyArray<string>;
}

/** A row of slots, for which callers wait in turn. */
export interface SlotRow extends Row<FairSlotsLimits> {
  /** Whose slots are limited. Default: a project's. */
  readonly owner?: 'key';
  /** The bytes that must have room when the turn has come, since the wait may have taken long. */
  readonly within?: 'answer';
  /** Whether each partner, or each organization without one, has these limits for itself. */
  readonly isForEachPartner?: boolean;
  readonly refused: Failure | Readonly<Record<SlotRefusal, Failure>>;
  /** What happens in place of an answer with these failures, for the documentation. */
  readonly instead?: string;
}

/** A row of places and bytes, which are taken immediately or not at all. */
export interface RoomRow extends Row<FairPlacesLimits> {
  /** The failures of those that are refused; empty where nothing fails. */
  readonly refused: ReadonlyArray<Failure['code']>;
  /** What happens in place of a failure, for the documentation. */
  readonly instead?: string;
}

export interface BytesRow extends Row<ByteLimits> {
  readonly refused: ReadonlyArray<Failure['code']>;
  readonly instead?: string;
}

export interface BatchRow extends Row<{ readonly maxSlots: number }> {
  readonly refused: ReadonlyArray<Failure['code']>;
  readonly instead: string;
}

/**
 * A row of requests, which are counted for their project, its organization and its partner. Without a limit until one
 * is set.
 */
export interface RequestsRow extends Pick<Row<unknown>, 'of'> {
  readonly setBy: string;
  readonly refused: ReadonlyArray<Failure['code']>;
}

const mebibyte = 1024 * 1024;
const gibibyte = 1024 * mebibyte;
/** The bytes of a line next to its body, for its id and its address. */
const bytesAroundBody = 64 * 1024;

export function maxLineBytesOf(maxBodyBytes: number): number {
  return maxBodyBytes + bytesAroundBody;
}

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
  'clean-up': {
    of: 'clean-ups at providers after calls',
    limits: { maxSlots: 8, maxSlotsOfOwner: 4, maxWaiting: 1_000, maxWaitingOfOwner: 100, maxWaitMs: 60_000 },
    refused: unavailable('Too many clean-ups wait.'),
    instead: 'left out',
  },
  // Projects write in turn, so that none fills the queue of the thread that writes for all.
  'large response': {
    of: 'stored responses of more than 64 KiB that are written',
    limits: { maxSlots: 2, maxWaiting: 32, maxWaitingOfOwner: 4, maxWaitMs: 10_000 },
    refused: unavailable('Too many responses wait until they are stored.'),
    instead: 'not stored',
  },
  'small response': {
    of: 'other stored responses that are written',
    limits: { maxSlots: 256, maxSlotsOfOwner: 128, maxWaiting: 4_096, maxWaitingOfOwner: 1_024, maxWaitMs: 10_000 },
    refused: unavailable('Too many responses wait until they are stored.'),
    instead: 'not stored',
  },
  // The thread answers one request of each project in turn.
  'stored turns': {
    of: 'reads of the turns of conversations, in a thread',
    limits: { maxSlots: 4, maxSlotsOfOwner: 1, maxWaiting: 4_096, maxWaitingOfOwner: 256, maxWaitMs: 30_000 },
    refused: unavailable('Too many readers of stored responses wait.'),
  },
  // A dead endpoint uses one, a living one up to eight. Further tries wait, and owners of endpoints get free slots in turn.
  'webhook try': {
    of: 'tries to deliver a message to a webhook endpoint',
    limits: { maxSlots: 4_096, maxSlotsOfOwner: 256 },
    refused: unavailable('Too many webhook messages wait.'),
    instead: 'waits',
  },
  // To make, sign and send one takes about a third of a millisecond, and thousands may be due at the same time; between
  // two parts the event loop has a turn.
  'webhook message': {
    of: 'webhook messages that are made',
    limits: { maxSlots: 16, maxSlotsOfOwner: 8 },
    refused: unavailable('Too many webhook messages wait.'),
    instead: 'waits',
  },
  // Version 23.10 holds a thread of its pool for each one, and the pool begins with one thread for each core: with eight
  // of them at the same time, other calls wait for seconds.
  'long read': {
    of: 'reads of several pages of a stream of EventStoreDB',
    limits: { maxSlots: 4, maxWaiting: 4_096, maxWaitMs: 5_000 },
    refused: unavailable('Too many long streams are read from the event store.'),
  },
} satisfies Readonly<Record<string, SlotRow>>;

const rooms = {
  append: {
    of: 'appends that wait for the event store',
    limits: { maxPlaces: 4_096, maxBytes: 64 * mebibyte },
    refused: ['unavailable'],
  },
  'small write': {
    of: 'writes that wait for the thread of the small SQLite files',
    limits: { maxPlaces: 4_096, maxBytes: 64 * mebibyte },
    refused: ['unavailable'],
  },
  'call record': {
    of: 'records of calls that wait for the store',
    limits: { maxBytes: 4 * mebibyte },
    refused: [],
    instead: 'the oldest of its project go',
  },
  'live feed': {
    of: 'live feeds that are open',
    limits: { maxPlaces: 2_000, maxPlacesOfOwner: 1_000 },
    variables: ['MAX_LIVE_FEEDS', 'MAX_LIVE_FEEDS_PER_PROJECT'],
    refused: ['too-many-feeds', 'feeds-full'],
  },
  'position wait': {
    of: 'callers that wait until read models or processes have passed a position',
    limits: { maxPlaces: 10_000 },
    refused: [],
    instead: 'does not wait',
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
  spool: {
    of: 'uploads in files',
    limits: { maxBytes: 4 * gibibyte, maxBytesPerProject: gibibyte },
    variables: ['MAX_SPOOL_BYTES', 'MAX_SPOOL_BYTES_PER_PROJECT'],
    refused: ['too-many-spool-bytes', 'spool-full'],
  },
  // In the budget of bodies, lines that wait could take the room that their own calls need.
  'batch line': {
    of: 'lines of batches in memory: half of what bodies may take, and at least two lines of maximum length',
    limits: { maxBytes: 256 * mebibyte, maxBytesPerProject: 2 * maxLineBytesOf(32 * mebibyte) },
    refused: [],
    instead: 'waits',
  },
} satisfies Readonly<Record<string, BytesRow>>;

const batches = {
  'batch call': {
    of: 'calls of batch lines; projects take turns, and so do the batches of a project',
    limits: { maxSlots: 32 },
    variables: ['BATCH_CALLS_AT_ONCE'],
    refused: [],
    instead: 'waits',
  },
  // Each has the hashes of up to 50,000 ids in memory.
  'batch check': {
    of: 'inputs of batches that are checked',
    limits: { maxSlots: 4 },
    refused: [],
    instead: 'waits',
  },
} satisfies Readonly<Record<string, BatchRow>>;

const requests = {
  request: {
    of: 'requests of a project in a minute; its organization and its partner have a multiple of it',
    setBy: '`REQUESTS_PER_MINUTE`',
    refused: ['rate-limited'],
  },
  'gateway request': {
    of: 'requests to the gateway of a project in a minute, in the same way',
    setBy: '`limits.requestsPerMinute` of the gateway’s configuration',
    refused: ['rate-limited'],
  },
  'gateway call': {
    of: 'calls of a project that run, in the same way; batches leave a quarter of them to live calls',
    setBy: '`limits.callsAtOnce` of the gateway’s configuration',
    refused: ['too-many-calls'],
  },
} satisfies Readonly<Record<string, RequestsRow>>;

/**
 * The table of limits. docs/operations.md and `/metrics` show it by name. `Admission` makes the slots, the room or the
 * budget of each row.
 */
export const slotTable = { requests, slots, batches, rooms, bytes };

export type SlotName = keyof typeof slots;
export type BatchSlotName = keyof typeof batches;
export type RoomName = keyof typeof rooms;
export type BytesName = keyof typeof bytes;

export interface RequestRate {
  /** Requests in a minute; null without a limit. */
  readonly perMinute: number | null;
  /** The factors of limits. Default: ten times as many for an organization, and for a partner. */
  readonly factors?: LimitFactors;
}

/** Limits that replace those of the table; what is left out is as in the table. */
export interface ChangedLimits {
  readonly slots?: Readonly<Partial<Record<SlotName, FairSlotsLimits>>>;
  readonly rooms?: Readonly<Partial<Record<RoomName, FairPlacesLimits>>>;
  readonly bytes?: Readonly<Partial<Record<BytesName, Partial<ByteLimits>>>>;
  readonly batches?: Readonly<Partial<Record<BatchSlotName, BatchRow['limits']>>>;
  readonly requests?: RequestRate;
}
