import { deleteWebhookEndpoint } from '#commands/webhook-endpoint/delete-webhook-endpoint.ts';
import { callerOf, ids } from '#test/support/events/tenants.ts';
import { webhookEndpointCreated, webhookEndpointDeleted } from '#test/support/events/webhook-events.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { webhookEndpointId: ids.webhookEndpoint };

describe('delete_webhook_endpoint', () => {
  it('deletes a webhook endpoint', () => {
    givenHistory(webhookEndpointCreated()).when(deleteWebhookEndpoint, input).then(webhookEndpointDeleted());
  });

  it('refuses a key of lower rank than the endpoint’s audience', () => {
    givenHistory(webhookEndpointCreated({ audience: 'organization' }))
      .when(deleteWebhookEndpoint, input, { caller: callerOf('project') })
      .then('key-type-not-allowed');
  });
});
