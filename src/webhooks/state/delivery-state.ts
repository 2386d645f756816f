import * as t from 'io-ts';
import { nullable } from '#shared/codecs/choice.ts';

/** A message to an endpoint: the place of an event in the log. Each try makes the body from the event. */
export const Message = t.type({
  /** The event's position in the log. */
  position: t.number,
  stream: t.string,
  revision: t.number,
  type: t.string,
});

export type Message = t.TypeOf<typeof Message>;

/** A message whose delivery has begun and is not complete. Times are in ms since 1970. */
export const OpenMessage = t.intersection([
  Message,
  t.type({
    /** Tries that have ended. */
    attempts: t.number,
    /** When the first try ended; null before that. */
    firstTriedAt: nullable(t.number),
    /** When the next try is due. */
    dueAt: t.number,
    /** A client requested it as a test. It is tried once, immediately. */
    isTest: t.boolean,
  }),
]);

export type OpenMessage = t.TypeOf<typeof OpenMessage>;

/** How far the delivery to an endpoint is. */
export const DeliveryState = t.type({
  /** Every message up to this position is delivered or open. */
  position: t.number,
  open: t.readonlyArray(OpenMessage),
  /** When the first failed try since the last success ended; null if no try has failed since then. */
  failingSince: nullable(t.number),
  /** Failed tries since the last success. */
  failures: t.number,
  /** The position of the last replay request that was carried out; 0 if there is none. */
  replayedAt: t.number,
  /** When delivery began at the end of the log because the state was lost (RFC 3339); null if it was not. */
  beganAtEndAt: nullable(t.string),
});

export type DeliveryState = t.TypeOf<typeof DeliveryState>;

/** Returns the state of an endpoint before its first delivery. @param position delivery begins after it */
export function newDeliveryState(position: number, beganAtEndAt: string | null = null): DeliveryState {
  return { position, open: [], failingSince: null, failures: 0, replayedAt: 0, beganAtEndAt };
}
