import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { ReadOfLog } from '#domain/shared/log-mark.ts';
import type { RecordRange } from '#records/record-store.ts';
import { nullable } from '#shared/codecs/choice.ts';
import type { Json } from '#shared/json/json.ts';

/** A message to an endpoint: the place of an event in the log. Each try makes the body from the event. */
export const Message = t.type({
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
    /** The number of tries that have ended. */
    attempts: t.number,
    /** When the first try ended; null before that. */
    firstTriedAt: nullable(t.number),
    dueAt: t.number,
    /** True if a client requested it as a test. It is tried once, immediately. */
    isTest: t.boolean,
  }),
]);

export type OpenMessage = t.TypeOf<typeof OpenMessage>;

export const DeliveryState = t.type({
  /** The position up to which every message is delivered or open. */
  position: t.number,
  open: t.readonlyArray(OpenMessage),
  /** When the first failed try since the last success ended; null if no try has failed since then. */
  failingSince: nullable(t.number),
  failures: t.number,
  /** The position of the last replay request that was carried out; 0 if there is none. */
  replayedAt: t.number,
  /** When delivery began at the end of the log because the state was lost (RFC 3339); null if it was not. */
  beganAtEndAt: nullable(t.string),
});

export type DeliveryState = t.TypeOf<typeof DeliveryState>;

/** The state before the first delivery. @param position delivery begins after it */
export function newDeliveryState(position: number, beganAtEndAt: string | null = null): DeliveryState {
  return { position, open: [], failingSince: null, failures: 0, replayedAt: 0, beganAtEndAt };
}

/** One record for each state, without its open messages. */
export const statesKind = 'webhook-deliveries';

/** One record for each open message. */
export const messagesKind = 'webhook-messages';

/** No endpoint's id has this form. */
export const followedKey = '-followed';

const { open: _, ...stateProps } = DeliveryState.props;

const StoredState = t.type({ log: t.string, state: t.type(stateProps) });

type StoredState = t.TypeOf<typeof StoredState>;

const StoredMessage = t.type({ log: t.string, message: OpenMessage });

type StoredMessage = t.TypeOf<typeof StoredMessage>;

const StoredPosition = t.intersection([t.type({ log: t.string, position: t.number }), t.partial({ read: ReadOfLog })]);

export interface FollowedLog {
  readonly position: number;
  readonly read?: ReadOfLog;
}

/** The state; null if this release cannot read it. */
export function decodeState(value: Json): StoredState | null {
  const stored = StoredState.decode(value);
  return E.isRight(stored) ? stored.right : null;
}

/** The message; null if this release cannot read it. */
export function decodeMessage(value: Json): StoredMessage | null {
  const stored = StoredMessage.decode(value);
  return E.isRight(stored) ? stored.right : null;
}

/** The position; null if it is of another log, or cannot be read. */
export function decodeFollowed(value: Json, log: string): FollowedLog | null {
  const stored = StoredPosition.decode(value);
  if (E.isLeft(stored) || stored.right.log !== log) return null;
  const { log: _, ...followed } = stored.right;
  return followed;
}

export function messageKey(endpointId: string, position: number): string {
  return `${endpointId}/${position}`;
}

export function endpointOf(key: string): string {
  return key.slice(0, key.indexOf('/'));
}

/** Selects the messages to an endpoint. In the order of keys `0` follows `/`. */
export function messagesTo(endpointId: string): Omit<RecordRange, 'limit'> {
  return { after: `${endpointId}/`, before: `${endpointId}0` };
}
