import * as E from 'fp-ts/lib/Either.js';
import { type GiveBack, Held } from '#exchange/held.ts';
import { currentOwner, type FairPlaces } from '#shared/async/fair-queue.ts';
import { type AppendFailure, type EventToAppend, noStream } from './event-store.ts';

/**
 * Measures an append, the same on every engine.
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

export function storedBytes(events: ReadonlyArray<EventToAppend>): number {
  let bytes = 0;
  for (const { id, type, data, metadata } of events)
    bytes += Buffer.byteLength(id) + Buffer.byteLength(type) + Buffer.byteLength(data) + Buffer.byteLength(metadata);
  return bytes;
}

/**
 * What an append takes of the room of all appends, until its outcome is known. That may be after its request was answered
 * with `unavailable`, so the request does not hold it.
 */
export class AppendPlace {
  #held: Held;
  readonly #place: GiveBack;
  #isKept = false;

  private constructor(owner: string, leave: () => void) {
    this.#held = new Held(owner);
    this.#place = this.#held.add(leave);
  }

  /** Takes the place from the room of the current owner. @returns null if there is no room */
  static take(room: FairPlaces, bytes: number): AppendPlace | null {
    const owner = currentOwner();
    return room.take(owner, bytes) ? new AppendPlace(owner, () => room.giveBack(owner, bytes)) : null;
  }

  /** Keeps the place: the request has been answered, and the outcome is still unknown. */
  keep(): void {
    if (this.#isKept) return;
    this.#isKept = true;
    this.#held = this.#held.keep('settling append', this.#place);
  }

  /** Leaves the place, because the outcome is known. */
  leave(): void {
    this.#isKept = true;
    this.#held.release();
  }
}
