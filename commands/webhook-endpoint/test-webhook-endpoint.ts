import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { newEvent } from '#domain/shared/event.ts';
import { failure } from '#domain/shared/failure.ts';
import { WebhookEndpointRecord } from '#domain/webhook-endpoint/record.ts';
import { countRunningTries, maxTriesOfEndpoint } from '#domain/webhook-endpoint/running-tries.ts';
import { checkMayChange, knownWebhookEndpoint, webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';

export const testWebhookEndpoint = command({
  about: {
    name: 'test_webhook_endpoint',
    summary: 'Send a test message to a webhook endpoint',
    description:
      'The message is the event of this request, of the type `WebhookTestRequested`. It is sent immediately and only once, to a disabled endpoint too, whatever types the endpoint receives. It counts among the eight tries of the endpoint that may run at once; beyond them it is refused. The deliveries of the endpoint show the result.',
    group: 'Webhooks',
    example: { output: WebhookEndpointRecord.example },
  },
  http: post('/v1/webhook-endpoints/:webhookEndpointId/test'),
  access: { scope: 'webhooks:write', subject: { entity: webhookEndpoint, parameter: 'webhookEndpointId' } },
  input: t.type({ webhookEndpointId: cuid }),
  output: WebhookEndpointRecord,
  failures: ['webhook-endpoint-not-found', 'too-many-webhook-tries'],
  entity: webhookEndpoint,
  loadRelated: async ({ webhookEndpointId }, { lookup }) => lookup.webhookTries(webhookEndpointId),
  decide: ({ webhookEndpointId: id }, state, { caller, related: known, time }) => {
    const { record, tests } = knownWebhookEndpoint(state);
    const refusal = checkMayChange(caller, record);
    if (refusal !== null) return E.left(refusal);
    if (countRunningTries(tests, known, time) >= maxTriesOfEndpoint) return E.left(tooManyTries);
    return E.right([newEvent('WebhookTestRequested', { id })]);
  },
  answer: ({ state }) => knownWebhookEndpoint(state).record,
});

const tooManyTries = failure(
  'too-many-webhook-tries',
  `${maxTriesOfEndpoint} tries of this endpoint run already. Test it when one of them has ended.`,
);
