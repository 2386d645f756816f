import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { newEvent } from '#domain/shared/event.ts';
import { failure } from '#domain/shared/failure.ts';
import { WebhookEndpointRecord, WebhookEndpointWithSecret } from '#domain/webhook-endpoint/record.ts';
import { secretOverlapMs } from '#domain/webhook-endpoint/secret.ts';
import { checkMayChange, knownWebhookEndpoint, webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';

export const rotateWebhookSecret = command({
  about: {
    name: 'rotate_webhook_secret',
    summary: 'Give a webhook endpoint a new secret',
    description:
      'Only this answer shows the new secret. For 24 hours, messages are also signed with the previous secret.',
    group: 'Webhooks',
    effect: { isDestructive: true },
    example: { output: { ...WebhookEndpointRecord.example, secret: 'whsec_…' } },
  },
  http: post('/v1/webhook-endpoints/:webhookEndpointId/rotate-secret'),
  access: {
    scope: 'webhooks:write',
    alsoScope: 'audit:read',
    subject: { entity: webhookEndpoint, parameter: 'webhookEndpointId' },
  },
  input: t.type({ webhookEndpointId: cuid }),
  output: WebhookEndpointWithSecret,
  failures: ['webhook-endpoint-not-found', 'webhook-key-lost'],
  entity: webhookEndpoint,
  loadRelated: async (_, { seal, newSecrets }, caller, state) =>
    checkMayChange(caller, knownWebhookEndpoint(state).record) === null
      ? seal({ secret: newSecrets.webhookSecret })
      : null,
  decide: ({ webhookEndpointId: id }, state, { caller, related: sealed, time }) => {
    const refusal = checkMayChange(caller, knownWebhookEndpoint(state).record);
    if (refusal !== null) return E.left(refusal);
    if (sealed === null) return E.left(keyLost);
    const previousValidUntil = new Date(Date.parse(time) + secretOverlapMs).toISOString();
    return E.right([newEvent('WebhookSecretRotated', { id, secret: sealed.secret, previousValidUntil })]);
  },
  answer: ({ state, newSecrets }) => ({
    ...knownWebhookEndpoint(state).record,
    ...(newSecrets === null ? {} : { secret: newSecrets.webhookSecret }),
  }),
});

const keyLost = failure(
  'webhook-key-lost',
  'The key that sealed the secrets of this endpoint is lost, and an endpoint gets no second one: create another endpoint.',
);
