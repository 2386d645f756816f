import * as t from 'io-ts';
import { timestamp } from '#domain/codecs/time.ts';
import { eventFailureCodec } from '#domain/shared/event-failure.ts';
import { nullable, oneOf } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

/** How far a read model or process is behind the log. */
const lag = {
  position: t.number,
  /** Positions from there to the end of the log; null if the end is not known. */
  lag: nullable(t.number),
  /** How long it has been behind the log, to the second; 0 if it is not behind, null if that is not known. */
  lagMs: nullable(t.number),
};

/** The answer of `GET /v1/dashboard/projections`, for operators. */
export const ProjectionsAnswer = t.type(
  {
    /** The end of the log; null if the event store does not answer in time. */
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
      t.type({
        name: text(),
        state: oneOf('running', 'waiting', 'stopped'),
        ...lag,
        failure: nullable(eventFailureCodec),
        /** The read model for which it waits, or what is unavailable; null if it does not wait. */
        waitingFor: nullable(text()),
      }),
    ),
    unknownEvents: t.readonlyArray(
      t.type({ type: text(), count: t.number, firstPosition: t.number, lastPosition: t.number }),
    ),
    /** What the answering node saw by the minute, at most 24 hours, oldest first. A restart clears it. */
    past: t.type({
      times: t.readonlyArray(timestamp),
      /** The highest lag of any running projection, in positions and in ms. */
      worstLag: t.readonlyArray(t.number),
      worstLagMs: t.readonlyArray(t.number),
      /** How many positions the log grew. */
      growth: t.readonlyArray(t.number),
    }),
  },
  'DashboardProjections',
);

export type ProjectionsAnswer = t.TypeOf<typeof ProjectionsAnswer>;
