import * as E from 'fp-ts/lib/Either.js';
import { apiKey } from '#domain/api-key/api-key.ts';
import type { ApiKeyEvents } from '#domain/api-key/events.ts';
import type { RecordedEventOf } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import type { WebhookEndpointEvents } from '#domain/webhook-endpoint/events.ts';
import { webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import type { Process, ProcessTools } from '#process-engine/process.ts';
import { paginateAll } from '#read-store/paginate-all.ts';

type Event = RecordedEventOf<
  Pick<ApiKeyEvents, 'ApiKeyRevoked'> & Pick<WebhookEndpointEvents, 'WebhookEndpointCreated'>
>;

/**
 * Disables the webhook endpoints that a key has created, when the key is revoked with its descendants. An endpoint may
 * be created while its key is being revoked. The reaction to the revocation finds endpoints that were created before
 * it. The reaction to a later creation finds that the key is revoked.
 */
export const disableWebhookEndpoints: Process = {
  name: 'disable-webhook-endpoints',
  types: ['ApiKeyRevoked', 'WebhookEndpointCreated'],
  handles: (event) => {
    const { type, data } = event as unknown as Event;
    return type === 'ApiKeyRevoked' ? data.descendantKeyIds !== null : data.createdByKeyId !== null;
  },
  handle: async (event, tools) => {
    const { type, data } = event as unknown as Event;
    if (type === 'ApiKeyRevoked') return disableAllOf(data.id, tools);
    if (data.createdByKeyId === null) return;
    const { state } = await tools.load(apiKey, data.createdByKeyId);
    if (state !== null && state.descendantsRevokedAt !== null) await disable(data.id, tools);
  },
};

async function disableAllOf(createdByKeyId: string, tools: ProcessTools): Promise<void> {
  const documents = await tools.documentsUpToDate('webhook-endpoints');
  for await (const page of paginateAll(documents, 'webhook-endpoints', { createdByKeyId })) {
    for (const { id } of page) await disable(id, tools);
  }
}

function disable(id: string, { write }: ProcessTools): Promise<void> {
  return write({
    entity: webhookEndpoint,
    id,
    decide: ({ state }) => {
      const isDone = state === null || state.deleted || state.record.disabledReason === 'key-revoked';
      const event = newEvent('WebhookEndpointDisabled', { id, reason: 'key-revoked' as const });
      return E.right({ events: isDone ? [] : [event], tenant: null });
    },
  });
}
