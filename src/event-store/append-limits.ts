import * as E from 'fp-ts/lib/Either.js';
import { currentOwner, FairRoom } from '#shared/async/fair-queue.ts';
import { type AppendFailure, type EventToAppend, noStream } from './event-store.ts';

/** The most appends that wait for a store, and the most bytes of these. */
export interface AppendRoomLimits {
  readonly maxPending: number;
  readonly maxPendingBytes: number;
}

/** The room for appends that wait for a store, divided among the projects for which they are made. */
export class AppendRoom {
  readonly #appends: FairRoom;
  readonly #bytes: FairRoom;

  constructor({ maxPending, maxPendingBytes }: AppendRoomLimits) {
    this.#appends = new FairRoom(maxPending);
    this.#bytes = new FairRoom(maxPendingBytes);
  }

  /** Takes room for an append of the project whose work runs. @returns gives it back */
  take(bytes: number): (() => void) | null {
    const owner = currentOwner();
    if (!this.#appends.hasRoom(owner) || !this.#bytes.take(owner, bytes)) return null;
    this.#appends.take(owner);
    return () => {
      this.#appends.giveBack(owner);
      this.#bytes.giveBack(owner, bytes);
    };
  }
}

/**
 * The checks of every engine before an append.
 * @returns the stored bytes of the events, or that these are too many
 * @throws RangeError for no events (a server may report a success) or for an impossible revision
 */
export function sizedAppend(
  expectedRevision: number,
  events: ReadonlyArray<EventToAppend>,
  maxBytes: number,
): E.Either<AppendFailure, number> {
  if (events.length === 0) throw new RangeError('An append needs an event.');
  if (!Number.isSafeInteger(expectedRevision) || expectedRevision < noStream)
    throw new RangeError(`An expected revision is an integer from ${noStream} on, not ${expectedRevision}.`);
  const bytes = storedBytes(events);
  return bytes > maxBytes ? E.left({ kind: 'append-too-large', bytes, maxBytes }) : E.right(bytes);
}

/** The stored bytes of events. */
export function storedBytes(events: ReadonlyArray<EventToAppend>): number {
  let bytes = 0;
  for (const { id, type, data, metadata } of events)
    bytes += Buffer.byteLength(id) + Buffer.byteLength(type) + Buffer.byteLength(data) + Buffer.byteLength(metadata);
  return bytes;
}
