import { newEvent } from '#domain/shared/event.ts';
import type { WebhookEndpointEvents } from '#domain/webhook-endpoint/events.ts';
import { ids } from './tenants.ts';

const id = ids.webhookEndpoint;

/** The sealed secrets of the example endpoint, as events hold them. */
export const firstSealed = { ciphertext: 'first-secret' } as const;
export const secondSealed = { ciphertext: 'second-secret' } as const;

export const webhookEndpointCreated = (change: Partial<WebhookEndpointEvents['WebhookEndpointCreated']> = {}) =>
  newEvent('WebhookEndpointCreated', {
    id,
    organizationId: ids.partner,
    projectId: ids.project,
    audience: 'project' as const,
    url: 'https://example.com/hooks',
    eventTypes: [],
    description: null,
    secret: firstSealed,
    createdByKeyId: ids.key,
    ...change,
  } satisfies WebhookEndpointEvents['WebhookEndpointCreated']);

export const webhookEndpointChanged = (change: Partial<WebhookEndpointEvents['WebhookEndpointChanged']> = {}) =>
  newEvent('WebhookEndpointChanged', {
    id,
    url: 'https://example.com/hooks',
    eventTypes: [],
    description: null,
    ...change,
  } satisfies WebhookEndpointEvents['WebhookEndpointChanged']);

export const webhookEndpointEnabled = () => newEvent('WebhookEndpointEnabled', { id });

export const webhookEndpointDisabled = (reason: WebhookEndpointEvents['WebhookEndpointDisabled']['reason']) =>
  newEvent('WebhookEndpointDisabled', { id, reason });

export const webhookSecretRotated = (previousValidUntil: string) =>
  newEvent('WebhookSecretRotated', { id, secret: secondSealed, previousValidUntil });

export const webhookTestRequested = () => newEvent('WebhookTestRequested', { id });

export const webhookReplayRequested = (after: number) => newEvent('WebhookReplayRequested', { id, after });

export const webhookEndpointDeleted = () => newEvent('WebhookEndpointDeleted', { id });
