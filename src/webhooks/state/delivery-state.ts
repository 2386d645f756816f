import * as t from 'io-ts';
import { nullable } from '#shared/codecs/choice.ts';

/** A message to an endpoint: an event of the log, named by its place. What is sent is made of it at each try. */
export const Message = t.type({
  /** Of the event in the log. */
  position: t.number,
  stream: t.string,
  revision: t.number,
  type: t.string,
});

export type Message = t.TypeOf<typeof Message>;

/** A message that was begun and has not been delivered. Times are in ms since 1970. */
export const OpenMessage = t.intersection([
  Message,
  t.type({
    /** Tries that have ended. */
    attempts: t.number,
    /** When its first try ended; null before. */
    firstTriedAt: nullable(t.number),
    /** When its next try is due. */
    dueAt: t.number,
    /** It was asked for as a test: tried once, at once. */
    isTest: t.boolean,
  }),
]);

export type OpenMessage = t.TypeOf<typeof OpenMessage>;

/** How far the delivery to an endpoint is. */
export const DeliveryState = t.type({
  /** Everything up to this position was delivered, or is open. */
  position: t.number,
  open: t.readonlyArray(OpenMessage),
  /** When the first of the tries ended that have all failed since one succeeded; null when the last one succeeded. */
  failingSince: nullable(t.number),
  /** Failed tries since one succeeded. */
  failures: t.number,
  /** The position of the last request for a replay that was obeyed; 0 without one. */
  replayedAt: t.number,
  /** When its state was lost, so that delivery began at the end of the log (RFC 3339). */
  beganAtEndAt: nullable(t.string),
});

export type DeliveryState = t.TypeOf<typeof DeliveryState>;

/** The state of an endpoint to which nothing was delivered. @param position after which delivery begins */
export function newDeliveryState(position: number, beganAtEndAt: string | null = null): DeliveryState {
  return { position, open: [], failingSince: null, failures: 0, replayedAt: 0, beganAtEndAt };
}
