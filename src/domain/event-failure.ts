import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { text } from '#shared/codecs/text.ts';
import { eventCodecs } from './event-codecs.ts';

/** Where a projection or a process has stopped, and why; `message` may quote the event. */
export const eventFailureCodec = t.readonly(
  t.intersection([
    t.type({ eventId: text(), eventType: text(), position: t.number, message: text() }),
    // Failures that a release before 0.5 stored lack it.
    t.partial({ stream: text() }),
  ]),
);

export type EventFailure = t.TypeOf<typeof eventFailureCodec>;

interface FailedEvent {
  readonly id: string;
  readonly type: string;
  readonly position: number;
  readonly stream: string;
  /** The event's data. Reading it throws if it cannot be read. */
  readonly data: unknown;
}

/**
 * Describes the failure. For a broken event it says what the event lacks, and which command leaves it out.
 * @param error of the handler
 */
export function eventFailure(event: FailedEvent, error: unknown): EventFailure {
  const { id, type, position, stream } = event;
  const reason = error instanceof Error ? error.message : String(error);
  const fault = faultOfData(event);
  const command = `npm run events -- skip-event ${position} --reason <text>`;
  const message = fault === null ? reason : `The event is broken: ${fault} (${reason}). Leave it out with: ${command}`;
  return { eventId: id, eventType: type, position, message, stream };
}

/** The member that is missing or of another type; null if the data is as its type demands. */
function faultOfData(event: FailedEvent): string | null {
  try {
    const decoded = eventCodecs[event.type]?.decode(event.data);
    if (decoded === undefined || E.isRight(decoded)) return null;
    const [first] = decoded.left;
    const place = first === undefined ? '' : placeIn(first.context);
    return first?.value === undefined ? `it has no ${place}` : `its ${place} is of another type`;
  } catch {
    return null;
  }
}

/** The place without the numbers that intersections and unions add for their parts. */
function placeIn(context: t.Context): string {
  const parts = new Set(['IntersectionType', 'UnionType']);
  const isPart = (index: number) => parts.has((context[index - 1]?.type as { readonly _tag?: string })?._tag ?? '');
  const keys = context.flatMap(({ key }, index) => (index === 0 || isPart(index) ? [] : [key]));
  return ['data', ...keys].join('.');
}

/** The place of the event without the message: it may quote the event, and only operators with a key may see it. */
export function placeOf({ eventId, eventType, position }: EventFailure): string {
  return `position ${position} (event ${eventId}, ${eventType})`;
}
