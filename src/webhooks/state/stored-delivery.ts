import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import type { RecordRange } from '#records/record-store.ts';
import type { Json } from '#shared/json/json.ts';
import { DeliveryState, OpenMessage } from './delivery-state.ts';

/** The kind of the records with a state each, without its open messages. */
export const statesKind = 'webhook-deliveries';

/** The kind of the records with an open message each. */
export const messagesKind = 'webhook-messages';

/** The key of the record with the followed position. No endpoint's id has this form. */
export const followedKey = '-followed';

const { open, ...stateProps } = DeliveryState.props;

/** A state as it is stored. In format 2 it had its open messages in `open` (ADR 87). */
const StoredState = t.type({
  log: t.string,
  state: t.intersection([t.type(stateProps), t.partial({ open })]),
});

type StoredState = t.TypeOf<typeof StoredState>;

const StoredMessage = t.type({ log: t.string, message: OpenMessage });

type StoredMessage = t.TypeOf<typeof StoredMessage>;

const StoredPosition = t.type({ log: t.string, position: t.number });

/** Decodes the record of a state; null if this release cannot read it. */
export function decodeState(value: Json): StoredState | null {
  const stored = StoredState.decode(value);
  return E.isRight(stored) ? stored.right : null;
}

/** Decodes the record of an open message; null if this release cannot read it. */
export function decodeMessage(value: Json): StoredMessage | null {
  const stored = StoredMessage.decode(value);
  return E.isRight(stored) ? stored.right : null;
}

/** Decodes the followed position; null if it is of another log, or cannot be read. */
export function decodeFollowed(value: Json, log: string): number | null {
  const stored = StoredPosition.decode(value);
  return E.isRight(stored) && stored.right.log === log ? stored.right.position : null;
}

/** The key of the record of an open message. */
export function messageKey(endpointId: string, position: number): string {
  return `${endpointId}/${position}`;
}

/** The id of the endpoint to which an open message goes. */
export function endpointOf(key: string): string {
  return key.slice(0, key.indexOf('/'));
}

/** The range of the open messages to an endpoint. In the order of keys `0` follows `/`. */
export function messagesTo(endpointId: string): Omit<RecordRange, 'limit'> {
  return { after: `${endpointId}/`, before: `${endpointId}0` };
}
