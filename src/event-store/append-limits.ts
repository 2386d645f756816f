import * as E from 'fp-ts/lib/Either.js';
import { type AppendFailure, type EventToAppend, noStream } from './event-store.ts';

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
