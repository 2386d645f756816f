import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { newEvent } from '#domain/shared/event.ts';
import { examples } from '#domain/shared/examples.ts';
import { checkMayChange } from '#domain/webhook-endpoint/may-change.ts';
import { WebhookEndpointRecord } from '#domain/webhook-endpoint/record.ts';
import { knownWebhookEndpoint, webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';

export const testWebhookEndpoint = command({
  name: 'test_webhook_endpoint',
  summary: 'Send a test message to a webhook endpoint',
  description:
    'It is the event of this request, of the type `WebhookTestRequested`: sent at once and once, whatever types the endpoint takes, also while it is disabled. What came of it is in the deliveries of the endpoint.',
  group: 'Webhooks',
  http: post('/v1/webhook-endpoints/:webhookEndpointId/test'),
  scope: 'webhooks:write',
  input: t.type({ webhookEndpointId: cuid }),
  output: WebhookEndpointRecord,
  failures: ['webhook-endpoint-not-found'],
  example: { output: examples.webhookEndpoint },
  entity: webhookEndpoint,
  subject: { entity: webhookEndpoint, parameter: 'webhookEndpointId' },
  decide: ({ webhookEndpointId: id }, state, { caller }) => {
    const refusal = checkMayChange(caller, knownWebhookEndpoint(state).record);
    return refusal === null ? E.right([newEvent('WebhookTestRequested', { id })]) : E.left(refusal);
  },
  answer: ({ state }) => knownWebhookEndpoint(state).record,
});
