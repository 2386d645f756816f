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
    'The message is the event of this request, of the type `WebhookTestRequested`. It is sent immediately and only once, to a disabled endpoint too, whatever types the endpoint receives. The deliveries of the endpoint show the result.',
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
