import { testWebhookEndpoint } from '#commands/webhook-endpoint/test-webhook-endpoint.ts';
import { callerOf, ids } from '#test/support/events/tenants.ts';
import { webhookEndpointCreated, webhookTestRequested } from '#test/support/events/webhook-events.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { webhookEndpointId: ids.webhookEndpoint };

describe('test_webhook_endpoint', () => {
  it('requests a test delivery', () => {
    givenHistory(webhookEndpointCreated()).when(testWebhookEndpoint, input).then(webhookTestRequested());
  });

  it('refuses a key of lower rank than the endpoint’s audience', () => {
    givenHistory(webhookEndpointCreated({ audience: 'organization' }))
      .when(testWebhookEndpoint, input, { caller: callerOf('project') })
      .then('key-type-not-allowed');
  });
});
