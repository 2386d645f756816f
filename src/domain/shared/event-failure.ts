import * as t from 'io-ts';
import { text } from '#shared/codecs/text.ts';

/** An event at which a projection or a process has stopped, and why; `message` may quote the event. */
export const eventFailureCodec = t.readonly(
  t.type({ eventId: text(), eventType: text(), position: t.number, message: text() }),
);

export type EventFailure = t.TypeOf<typeof eventFailureCodec>;

/** The members of a stored event that its failure names. */
interface FailedEvent {
  readonly id: string;
  readonly type: string;
  readonly position: number;
}

/**
 * The failure of an event.
 * @param error the error that the handler threw
 */
export function eventFailure({ id, type, position }: FailedEvent, error: unknown): EventFailure {
  const message = error instanceof Error ? error.message : String(error);
  return { eventId: id, eventType: type, position, message };
}

/**
 * Describes where something has stopped, without the message: the message may quote the event, and only operators with
 * a key may see it.
 */
export function placeOf({ eventId, eventType, position }: EventFailure): string {
  return `position ${position} (event ${eventId}, ${eventType})`;
}
