import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { remove } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { newEvent } from '#domain/shared/event.ts';
import { WebhookEndpointRecord } from '#domain/webhook-endpoint/record.ts';
import { checkMayChange, knownWebhookEndpoint, webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';

export const deleteWebhookEndpoint = command({
  about: {
    name: 'delete_webhook_endpoint',
    summary: 'Delete a webhook endpoint',
    description: 'It receives no more messages, and its secrets are destroyed. Its history stays.',
    group: 'Webhooks',
    example: { output: WebhookEndpointRecord.example },
  },
  http: remove('/v1/webhook-endpoints/:webhookEndpointId'),
  access: { scope: 'webhooks:write', subject: { entity: webhookEndpoint, parameter: 'webhookEndpointId' } },
  input: t.type({ webhookEndpointId: cuid }),
  output: WebhookEndpointRecord,
  failures: ['webhook-endpoint-not-found'],
  entity: webhookEndpoint,
  endpointPlace: 'freed',
  decide: ({ webhookEndpointId: id }, state, { caller }) => {
    const refusal = checkMayChange(caller, knownWebhookEndpoint(state).record);
    return refusal === null ? E.right([newEvent('WebhookEndpointDeleted', { id })]) : E.left(refusal);
  },
  afterAppend: async (id, { erasePersonalData }) => {
    await erasePersonalData(id);
    return null;
  },
  answer: ({ state }) => knownWebhookEndpoint(state).record,
});
