import * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { timestamp } from '#domain/codecs/time.ts';
import { nullable, oneOf } from '#shared/codecs/choice.ts';
import { integer } from '#shared/codecs/number.ts';
import { text } from '#shared/codecs/text.ts';
import { DisabledReason, EndpointAudience } from './events.ts';

export const WebhookEndpointStatus = oneOf('enabled', 'disabled');

/** A webhook endpoint as it is given out, without its secret. */
export const WebhookEndpointRecord = t.type(
  {
    id: cuid,
    organizationId: cuid,
    /** Null for an endpoint of the whole organization. */
    projectId: nullable(cuid),
    /** Whose events it receives: of its project, of its organization, or of a partner and its customers. */
    audience: EndpointAudience,
    url: text(),
    /** Empty for all. */
    eventTypes: t.readonlyArray(text()),
    description: nullable(text()),
    status: WebhookEndpointStatus,
    /** Null while it is enabled. */
    disabledReason: nullable(DisabledReason),
    /** The key that made it; null where no key did. */
    createdByKeyId: nullable(cuid),
    createdAt: timestamp,
    updatedAt: timestamp,
  },
  'WebhookEndpoint',
);

export type WebhookEndpointRecord = t.TypeOf<typeof WebhookEndpointRecord>;

/** The answer to making an endpoint, or to a rotation: `secret` is there the first time alone. */
export const WebhookEndpointWithSecret = t.intersection(
  [WebhookEndpointRecord, t.partial({ secret: text() })],
  'WebhookEndpointWithSecret',
);

export type WebhookEndpointWithSecret = t.TypeOf<typeof WebhookEndpointWithSecret>;

/** How far the delivery to an endpoint is. */
export const EndpointDelivery = t.type(
  {
    /** The position of the log up to which everything was delivered, but for the messages that are open. */
    position: integer(0, Number.MAX_SAFE_INTEGER),
    /** Messages that are being delivered, or wait for their next try. */
    openMessages: integer(0, Number.MAX_SAFE_INTEGER),
    /** Since when every try has failed; null when the last one succeeded. */
    failingSince: nullable(timestamp),
    /** When how far it was had been lost, so that delivery began at the end of the log; null when it never was. */
    beganAtEndAt: nullable(timestamp),
  },
  'WebhookEndpointDelivery',
);

export type EndpointDelivery = t.TypeOf<typeof EndpointDelivery>;

/** An endpoint with how far its delivery is; null before it has begun. */
export const WebhookEndpointWithDelivery = t.intersection(
  [WebhookEndpointRecord, t.partial({ delivery: nullable(EndpointDelivery) })],
  'WebhookEndpointWithDelivery',
);

export type WebhookEndpointWithDelivery = t.TypeOf<typeof WebhookEndpointWithDelivery>;
