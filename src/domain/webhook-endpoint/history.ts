import { entityHistory } from '#domain/history/listed-event.ts';
import type { ResourceName } from '#domain/history/record.ts';
import type { WebhookEndpointEvents } from './events.ts';
import { type WebhookEndpointState, webhookEndpoint } from './webhook-endpoint.ts';

const itself = ({ id }: { readonly id: string }): ResourceName => ({ kind: 'webhook-endpoint', id });

const disabledBecause = {
  requested: 'The webhook endpoint was disabled.',
  failing: 'The webhook endpoint was disabled, because every delivery had failed for three days.',
  gone: 'The webhook endpoint was disabled, because its receiver answered 410 and wants no more messages.',
  'key-revoked':
    'The webhook endpoint was disabled, because the key that made it was revoked with all that descends from it.',
} as const;

/** The history shows no secrets, and only the host of a URL. */
export const webhookEndpointHistory = entityHistory<WebhookEndpointState, WebhookEndpointEvents>({
  entity: webhookEndpoint,
  events: {
    WebhookEndpointCreated: {
      resource: itself,
      summary: ({ url }) => `A webhook endpoint at ${hostOf(url)} was created.`,
    },
    WebhookEndpointChanged: {
      resource: itself,
      summary: ({ url }) => `The webhook endpoint at ${hostOf(url)} was changed.`,
    },
    WebhookEndpointEnabled: { resource: itself, summary: () => 'The webhook endpoint was enabled.' },
    WebhookEndpointDisabled: { resource: itself, summary: ({ reason }) => disabledBecause[reason] },
    WebhookSecretRotated: {
      resource: itself,
      summary: ({ previousValidUntil }) =>
        `The webhook endpoint got a new secret. The one before signs until ${previousValidUntil}.`,
    },
    WebhookTestRequested: { resource: itself, summary: () => 'A test message to the webhook endpoint was requested.' },
    WebhookReplayRequested: {
      resource: itself,
      summary: ({ after }) => `Everything after position ${after} was requested again for the webhook endpoint.`,
    },
    WebhookEndpointDeleted: { resource: itself, summary: () => 'The webhook endpoint was deleted.' },
  },
  record: async (state, { id }) =>
    state !== null && webhookEndpoint.isLive(state, id)
      ? { ...state.record, eventTypes: [...state.record.eventTypes] }
      : null,
});

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'an address';
}
