import type * as t from 'io-ts';
import { timestamp } from '#domain/codecs/time.ts';
import { enumeration, nullable } from '#shared/codecs/choice.ts';
import { integer } from '#shared/codecs/number.ts';
import { record } from '#shared/codecs/record.ts';
import { text } from '#shared/codecs/text.ts';

export const DeliveryError = enumeration(
  'WebhookDeliveryError',
  /** The receiver answered with another status than 2xx. */
  'status',
  /** The receiver answered with a redirect, which is not followed. */
  'redirect',
  /** The receiver was too slow. */
  'timeout',
  /** The connection could not be made, or broke. */
  'connection',
  /** The host has no address. */
  'host-not-found',
  /** The host has an address that is not public. */
  'address-refused',
  /** The certificate of the receiver is not valid. */
  'certificate',
  /** The secret cannot be read: rotate it. */
  'secret-missing',
  /** The message could not be made from its event. This is a fault of the service; the log says why. */
  'message-not-made',
);

export type DeliveryError = t.TypeOf<typeof DeliveryError>;

/** `failed` is retried, `given-up` is not. */
export const DeliveryOutcome = enumeration('WebhookDeliveryOutcome', 'delivered', 'failed', 'given-up');

export type DeliveryOutcome = t.TypeOf<typeof DeliveryOutcome>;

/** A delivery as the API lists it. */
export const WebhookDelivery = record('WebhookDelivery', {
  /** The `webhook-id` of the message: the id of the event. */
  messageId: [text(), '7c0f6a52-9f0e-4f55-8f0c-0a1f4ad3a4b1'],
  /** The type of the event. */
  type: [text(), 'FlowVersionActivated'],
  /** The position of the event in the log. */
  position: [integer(0, Number.MAX_SAFE_INTEGER), 4_711],
  /** 1 for the first try. */
  attempt: [integer(1, Number.MAX_SAFE_INTEGER), 1],
  outcome: [DeliveryOutcome, 'delivered'],
  /** The HTTP status; null without an answer. */
  status: [nullable(integer(100, 999)), 204],
  /** Null if it was delivered. */
  error: [nullable(DeliveryError), null],
  durationMs: [integer(0, Number.MAX_SAFE_INTEGER), 38],
  /** When it ended. */
  time: [timestamp, '2026-01-06T14:05:00.250Z'],
});

export type WebhookDelivery = t.TypeOf<typeof WebhookDelivery>;
