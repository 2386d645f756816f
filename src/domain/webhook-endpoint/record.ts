import * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { timestamp } from '#domain/codecs/time.ts';
import { exampleIds, recordTimes } from '#domain/shared/examples.ts';
import { enumeration, nullable } from '#shared/codecs/choice.ts';
import { integer } from '#shared/codecs/number.ts';
import { record } from '#shared/codecs/record.ts';
import { text } from '#shared/codecs/text.ts';
import { DisabledReason, EndpointAudience } from './events.ts';

export const WebhookEndpointStatus = enumeration('WebhookEndpointStatus', 'enabled', 'disabled');

/** An endpoint without its secret. */
export const WebhookEndpointRecord = record('WebhookEndpoint', {
  id: [cuid, exampleIds.webhookEndpoint],
  organizationId: [cuid, exampleIds.organization],
  /** Null for an endpoint of the whole organization. */
  projectId: [nullable(cuid), exampleIds.project],
  /** The events that it receives: of its project, of its organization, or of a partner and its customers. */
  audience: [EndpointAudience, 'project'],
  url: [text(), 'https://example.com/hooks/switchyard'],
  /** The types of events; empty for all. */
  eventTypes: [t.readonlyArray(text()), ['FlowVersionActivated', 'PhoneNumberFlowSet']],
  description: [nullable(text()), 'Notice board of the desk'],
  status: [WebhookEndpointStatus, 'enabled'],
  /** Why it is disabled; null while it is enabled. */
  disabledReason: [nullable(DisabledReason), null],
  /** Null if no key created it. */
  createdByKeyId: [nullable(cuid), exampleIds.apiKey],
  ...recordTimes,
});

export type WebhookEndpointRecord = t.TypeOf<typeof WebhookEndpointRecord>;

/** Only the first answer has `secret`. */
export const WebhookEndpointWithSecret = t.intersection(
  [WebhookEndpointRecord, t.partial({ secret: text() })],
  'WebhookEndpointWithSecret',
);

export type WebhookEndpointWithSecret = t.TypeOf<typeof WebhookEndpointWithSecret>;

export const EndpointDelivery = t.type(
  {
    /** Everything up to this position of the log is delivered, except for open messages. */
    position: integer(0, Number.MAX_SAFE_INTEGER),
    /** The number of messages that are being delivered or wait for their next try. */
    openMessages: integer(0, Number.MAX_SAFE_INTEGER),
    /** Every try since then has failed; null if the last one succeeded. */
    failingSince: nullable(timestamp),
    /**
     * When the delivery began at the end of the log, because the state of the delivery was lost; null if that never
     * happened.
     */
    beganAtEndAt: nullable(timestamp),
  },
  'WebhookEndpointDelivery',
);

export type EndpointDelivery = t.TypeOf<typeof EndpointDelivery>;

/** Null before the delivery has begun. */
export const WebhookEndpointWithDelivery = t.intersection(
  [WebhookEndpointRecord, t.partial({ delivery: nullable(EndpointDelivery) })],
  'WebhookEndpointWithDelivery',
);

export type WebhookEndpointWithDelivery = t.TypeOf<typeof WebhookEndpointWithDelivery>;
