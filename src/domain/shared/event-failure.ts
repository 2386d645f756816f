import * as t from 'io-ts';
import { text } from '#shared/codecs/text.ts';

/** An event at which a projection or a process has stopped, and why; `message` may quote the event. */
export const eventFailureCodec = t.readonly(
  t.type({ eventId: text(), eventType: text(), position: t.number, message: text() }),
);

export type EventFailure = t.TypeOf<typeof eventFailureCodec>;

/** As much of a stored event as its failure names. */
interface FailedEvent {
  readonly id: string;
  readonly type: string;
  readonly position: number;
}

/** The failure of an event. @param error what handling the event threw */
export function eventFailure({ id, type, position }: FailedEvent, error: unknown): EventFailure {
  const message = error instanceof Error ? error.message : String(error);
  return { eventId: id, eventType: type, position, message };
}

/** Names where something has stopped. What was said there may quote the event: only operators with a key see that. */
export function placeOf({ eventId, eventType, position }: EventFailure): string {
  return `position ${position} (event ${eventId}, ${eventType})`;
}
