import { ListedEventType } from '#application/history/listed-event-type.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { maxUrlCharacters } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { list } from '#shared/codecs/list.ts';
import { text } from '#shared/codecs/text.ts';

/** The members that a client sets, so without the status. */
export const endpointMembers = {
  url: text({ min: 1, max: maxUrlCharacters }),
  eventTypes: list(ListedEventType),
  description: nullable(text({ max: 1_000 })),
};

/** Removes repeated event types and keeps their order. */
export function distinct(eventTypes: ReadonlyArray<string>): ReadonlyArray<string> {
  return [...new Set(eventTypes)];
}

/** Null if the URL has no fault. */
export function urlRefusal(fault: string | null): Failure | null {
  return fault === null ? null : invalidInput([{ pointer: '/url', message: fault }]);
}
