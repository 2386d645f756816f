import * as t from 'io-ts';
import { entityHistory } from '#domain/history/listed-event.ts';
import type { Entity } from '#domain/shared/entity.ts';
import { nullable } from '#shared/codecs/choice.ts';

/** Operators' requests about single events of the log. Every projection and process follows them. */
export const eventControlEvents = {
  EventSkipped: t.type({
    position: t.number,
    eventId: t.string,
    eventType: t.string,
    /** The stream of the event; null if a release before 0.5 has stopped at it. */
    stream: nullable(t.string),
    reason: t.string,
  }),
};

export type EventControlEvents = {
  [Type in keyof typeof eventControlEvents]: t.TypeOf<(typeof eventControlEvents)[Type]>;
};

/** The event that was skipped last, without the reason. */
export interface EventControlState {
  readonly skipped: Omit<EventControlEvents['EventSkipped'], 'reason'> | null;
}

/** All operators' requests about events share one stream, because a start reads them. */
export const eventControl: Entity<EventControlState, EventControlEvents> = {
  category: 'event',
  stateVersion: 1,
  initial: { skipped: null },
  streamKey: (id) => id,
  everExisted: () => true,
  isLive: () => true,
  notFound: 'event-not-stopped',
  evolve: (_, { data: { reason: _reason, ...skipped } }) => ({ skipped }),
};

/** The id of the one resource of `eventControl`. */
export const skippedEventsId = 'skipped';

export const eventControlHistory = entityHistory<EventControlState, EventControlEvents>({
  entity: eventControl,
  events: {
    EventSkipped: {
      resource: ({ eventId }) => ({ kind: 'event', id: eventId }),
      summary: ({ eventId, eventType, position, reason }) =>
        `The event ${eventId} (${eventType}, position ${position}) is skipped by what cannot handle it: “${reason}”.`,
    },
  },
  record: async () => null,
});
