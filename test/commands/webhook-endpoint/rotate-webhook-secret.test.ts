import assert from 'node:assert/strict';
import { createWebhookEndpoint } from '#commands/webhook-endpoint/create-webhook-endpoint.ts';
import { rotateWebhookSecret } from '#commands/webhook-endpoint/rotate-webhook-secret.ts';
import { validSecrets } from '#domain/webhook-endpoint/secret.ts';
import { knownWebhookEndpoint, webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import { callerOf, ids } from '#test/support/events/tenants.ts';
import {
  firstSealed,
  secondSealed,
  webhookEndpointCreated,
  webhookSecretRotated,
} from '#test/support/events/webhook-events.ts';
import { decidedAt, givenHistory } from '#test/support/harness/command-harness.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { foldEvents, timeOf } from '#test/support/harness/recorded-events.ts';

const input = { webhookEndpointId: ids.webhookEndpoint };
const dayAfter = new Date(Date.parse(decidedAt) + 24 * 60 * 60 * 1000).toISOString();

describe('rotate_webhook_secret', () => {
  it('keeps the previous secret valid for 24 hours after a rotation', () => {
    givenHistory(webhookEndpointCreated())
      .when(rotateWebhookSecret, input, { related: { secret: secondSealed } })
      .then(webhookSecretRotated(dayAfter));
  });

  it('signs with two secrets until the older one ends, then with one', () => {
    const { state } = foldEvents(webhookEndpoint, [webhookEndpointCreated(), webhookSecretRotated(timeOf(90))]);
    const { secrets } = knownWebhookEndpoint(state);
    const signingAt = (seconds: number) => validSecrets(secrets, timeOf(seconds)).map(({ secret }) => secret);
    assert.deepEqual(signingAt(89), [secondSealed, firstSealed]);
    assert.deepEqual(signingAt(90), [secondSealed]);
  });

  it('refuses a key of lower rank than the endpoint’s audience', () => {
    givenHistory(webhookEndpointCreated({ audience: 'organization' }))
      .when(rotateWebhookSecret, input, { caller: callerOf('project'), related: { secret: secondSealed } })
      .then('key-type-not-allowed');
  });

  it('makes no second key for an endpoint whose key was lost', async () => {
    const service = new Service();
    const body = { url: 'https://hooks.example.com/', eventTypes: [] };
    const { body: made } = await service.ok(createWebhookEndpoint, {}, { body });
    const path = { webhookEndpointId: String(made.id) };
    await service.ok(rotateWebhookSecret, path);
    const next = new Service(service.store);
    assert.equal(await next.refusal(rotateWebhookSecret, path), 'webhook-key-lost');
    assert.equal(next.subjectKeys.secrets.size, 0);
  });
});
