import * as E from 'fp-ts/lib/Either.js';
import { type Failure, failure, type InputError } from '#domain/shared/failure.ts';
import type { JsonObject } from '#shared/json/json.ts';
import type { ByteReservation, ByteShortage } from './byte-budget.ts';

/** Limits of an arrival, which replace the server's limit of a whole request. */
export interface ArrivalLimits {
  /** Time between two pieces of the body. */
  readonly idleMs: number;
  /** Time from the start of reading to its end. */
  readonly totalMs: number;
}

/**
 * How a body arrived: completely; until the reader stopped; too slowly; evicted to make room for others' bytes; until
 * its connection gave way to another project's; or until there was no room left for more of it.
 */
export type Arrival = 'whole' | 'stopped' | 'too-slow' | 'evicted' | 'gave-way' | { readonly shortage: ByteShortage };

/**
 * Returns whether to continue. While a returned promise is pending, no further piece comes, and the sender does not
 * count as idle.
 */
export type TakePiece = (piece: Buffer) => boolean | Promise<boolean>;

/** What a request says, without the members of its path. */
export interface RequestInput {
  readonly fields: JsonObject;
  /** The unknown parts of the request, if it prefers that they are refused. */
  readonly unknown: ReadonlyArray<InputError>;
  /** SHA-256 (hex) of the body's bytes, for `Idempotency-Key`. */
  readonly bodyHash: string;
  readonly bytes: number;
}

/** The input of a request without members. */
export const noInput: RequestInput = { fields: {}, unknown: [], bodyHash: '', bytes: 0 };

export interface BodyBytes {
  /** Whether there is a body at all. */
  readonly isPresent: boolean;
  /** The announced size; 0 without one. */
  readonly announcedBytes: number;
  /** The bytes that are here already. @returns null if the body must be received; then nothing is read */
  readonly takeBuffered: () => Buffer | null;
  /**
   * Receives the body piece by piece.
   * @param reservation counts the bytes; until the arrival ends it may be evicted
   * @throws ClientDisconnectedError, and the errors of `take`; never before a promise of `take` has settled
   */
  readonly receive: (limits: ArrivalLimits, reservation: ByteReservation, take: TakePiece) => Promise<Arrival>;
}

/** A body that is read when it is needed, and once. */
export interface Body extends BodyBytes {
  /**
   * Reads it as the input of an operation, with the query and the path: media type, size, syntax.
   * @throws ClientDisconnectedError
   */
  readonly readInput: () => Promise<E.Either<Failure, RequestInput>>;
}

export const readNothing: Body['readInput'] = async () => E.right(noInput);

/** The body of a call without a connection, such as a line of a batch. */
export class MemoryBody implements Body {
  readonly #bytes: Buffer;
  readonly readInput: Body['readInput'];

  /** @param readInput default: reads nothing */
  constructor(bytes: Buffer, readInput: Body['readInput'] = readNothing) {
    this.#bytes = bytes;
    this.readInput = readInput;
  }

  get isPresent(): boolean {
    return this.#bytes.length > 0;
  }

  get announcedBytes(): number {
    return this.#bytes.length;
  }

  takeBuffered(): Buffer {
    return this.#bytes;
  }

  async receive(_limits: ArrivalLimits, reservation: ByteReservation, take: TakePiece): Promise<Arrival> {
    const shortage = reservation.take(heldBytesOf(this.#bytes));
    if (shortage !== null) return { shortage };
    return (await take(this.#bytes)) ? 'whole' : 'stopped';
  }
}

/**
 * Node's overhead for each piece of a body. Without it, pieces of one byte would take far more memory than they count.
 */
const bytesBesidePiece = 256;

export function heldBytesOf(piece: Buffer): number {
  return piece.length + bytesBesidePiece;
}

const retryAfterSeconds = 1;

export function bodyShortageFailure(shortage: ByteShortage): Failure {
  return shortage === 'project' ? projectFull : nodeFull;
}

const projectFull = failure(
  'too-many-body-bytes',
  'The bodies of this project’s requests are at their limit of bytes. Try again when one has been answered.',
  { retryAfterSeconds },
);

const nodeFull = failure(
  'bodies-full',
  'The bodies of all requests are at this node’s limit of bytes. Try again later.',
  { retryAfterSeconds },
);

/** The failure of an unfinished body that was evicted for others. */
const bodyEvicted = failure(
  'body-evicted',
  'The node has no memory left for bodies, and this project has most of it. So the node ended this unfinished body. Send it again, faster.',
  { retryAfterSeconds },
);

/** The failure of an unfinished body whose connection another project got. */
const bodyGaveWay = failure(
  'body-evicted',
  'Another project needs a connection, and this project has most of those with unfinished bodies. So the node ended this one. Send it again, faster.',
  { retryAfterSeconds },
);

export function bodyTooLarge(maxBytes: number): Failure {
  return failure('body-too-large', `The body has more than ${maxBytes} bytes, the most that is allowed.`);
}

/** Why a body did not arrive completely; null if it did. */
export function arrivalFailure(arrival: Arrival, maxBytes: number): Failure | null {
  if (typeof arrival === 'object') return bodyShortageFailure(arrival.shortage);
  switch (arrival) {
    case 'whole':
      return null;
    case 'stopped':
      return bodyTooLarge(maxBytes);
    case 'too-slow':
      return tooSlow;
    case 'evicted':
      return bodyEvicted;
    case 'gave-way':
      return bodyGaveWay;
  }
}

const tooSlow = failure('body-too-slow', 'The body stopped arriving or took too long. Send it again.');
