import * as t from 'io-ts';
import { timestamp } from '#domain/codecs/time.ts';
import { eventFailureCodec } from '#domain/shared/event-failure.ts';
import { nullable, oneOf } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

/** How far something is behind the log. */
const lag = {
  position: t.number,
  /** Positions from there to the end of the log; null where that is not known. */
  lag: nullable(t.number),
  /** How long the log has been ahead of it, to the second; 0 when it is not, null where that is not known. */
  lagMs: nullable(t.number),
};

/** `GET /v1/dashboard/projections`, for operators. */
export const ProjectionsAnswer = t.type(
  {
    /** Where the log ends; null where the event store does not say so in time. */
    logEnd: nullable(t.number),
    projections: t.readonlyArray(
      t.type({
        name: text(),
        version: t.number,
        state: oneOf('running', 'rebuilding', 'stopped'),
        ready: t.boolean,
        ...lag,
        failure: nullable(eventFailureCodec),
        rebuild: nullable(
          t.type({
            position: t.number,
            target: t.number,
            /** From 0 to 1. */
            part: t.number,
            eventsPerSecond: t.number,
            secondsLeft: nullable(t.number),
          }),
        ),
      }),
    ),
    processes: t.readonlyArray(
      t.type({ name: text(), state: oneOf('running', 'stopped'), ...lag, failure: nullable(eventFailureCodec) }),
    ),
    unknownEvents: t.readonlyArray(
      t.type({ type: text(), count: t.number, firstPosition: t.number, lastPosition: t.number }),
    ),
    /** As the answering node saw it by the minute, 24 hours at most, the oldest first; nothing is kept over a restart. */
    past: t.type({
      times: t.readonlyArray(timestamp),
      /** The highest lag of any running projection, in positions and in ms. */
      worstLag: t.readonlyArray(t.number),
      worstLagMs: t.readonlyArray(t.number),
      /** Positions that the log grew by. */
      growth: t.readonlyArray(t.number),
    }),
  },
  'DashboardProjections',
);

export type ProjectionsAnswer = t.TypeOf<typeof ProjectionsAnswer>;
