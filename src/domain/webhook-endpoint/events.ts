import * as t from 'io-ts';
import { SealedText } from '#domain/shared/personal-data.ts';
import { enumeration, nullable } from '#shared/codecs/choice.ts';

/** The creating key has access to the events that the endpoint receives. */
export const EndpointAudience = enumeration('WebhookAudience', 'partner', 'organization', 'project');

export const DisabledReason = enumeration('WebhookDisabledReason', 'requested', 'failing', 'gone', 'key-revoked');

/** Its secrets are sealed with a key that is destroyed with it. */
export const webhookEndpointEvents = {
  WebhookEndpointCreated: t.type({
    id: t.string,
    organizationId: t.string,
    /** Null for an endpoint of the whole organization. */
    projectId: nullable(t.string),
    audience: EndpointAudience,
    url: t.string,
    /** The types of events; empty for all. */
    eventTypes: t.readonlyArray(t.string),
    description: nullable(t.string),
    secret: SealedText,
    /** Null if no key created it. */
    createdByKeyId: nullable(t.string),
  }),
  WebhookEndpointChanged: t.type({
    id: t.string,
    url: t.string,
    eventTypes: t.readonlyArray(t.string),
    description: nullable(t.string),
  }),
  WebhookEndpointEnabled: t.type({ id: t.string }),
  WebhookEndpointDisabled: t.type({ id: t.string, reason: DisabledReason }),
  WebhookSecretRotated: t.type({
    id: t.string,
    secret: SealedText,
    previousValidUntil: t.string,
  }),
  /** This event itself is sent to the endpoint, for any `eventTypes`. */
  WebhookTestRequested: t.type({ id: t.string }),
  /** The events after this position of the log are delivered again. */
  WebhookReplayRequested: t.type({ id: t.string, after: t.number }),
  WebhookEndpointDeleted: t.type({ id: t.string }),
};

export type WebhookEndpointEvents = {
  [Type in keyof typeof webhookEndpointEvents]: t.TypeOf<(typeof webhookEndpointEvents)[Type]>;
};
