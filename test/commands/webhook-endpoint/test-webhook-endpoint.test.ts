import { testWebhookEndpoint } from '#commands/webhook-endpoint/test-webhook-endpoint.ts';
import { callerOf, ids } from '#test/support/events/tenants.ts';
import { webhookEndpointCreated, webhookTestRequested } from '#test/support/events/webhook-events.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';
import { timeOf } from '#test/support/harness/recorded-events.ts';

const tests = (count: number) => Array.from({ length: count }, webhookTestRequested);
const input = { webhookEndpointId: ids.webhookEndpoint };

describe('test_webhook_endpoint', () => {
  it('requests a test delivery', () => {
    givenHistory(webhookEndpointCreated()).when(testWebhookEndpoint, input).then(webhookTestRequested());
  });

  it('refuses a test while eight tries of the endpoint run', () => {
    const given = givenHistory(webhookEndpointCreated());
    given.when(testWebhookEndpoint, input, { related: { running: 7, revision: 0 } }).then(webhookTestRequested());
    given.when(testWebhookEndpoint, input, { related: { running: 8, revision: 0 } }).then('too-many-webhook-tries');
  });

  it('counts the requested tests that the node has not begun', () => {
    const given = givenHistory(webhookEndpointCreated(), ...tests(20));
    given.when(testWebhookEndpoint, input, { related: { running: 1, revision: 13 } }).then('too-many-webhook-tries');
    given.when(testWebhookEndpoint, input, { related: { running: 1, revision: 14 } }).then(webhookTestRequested());
    given.when(testWebhookEndpoint, input, { related: { running: 0, revision: 0 } }).then('too-many-webhook-tries');
  });

  it('counts the tests of the last 15 seconds on a node that does not deliver', () => {
    const given = givenHistory(webhookEndpointCreated(), ...tests(8));
    // The history has an event each second, the first test at second 1.
    given.when(testWebhookEndpoint, input, { related: null, time: timeOf(15) }).then('too-many-webhook-tries');
    given.when(testWebhookEndpoint, input, { related: null, time: timeOf(17) }).then(webhookTestRequested());
  });

  it('refuses a key of lower rank than the endpoint’s audience', () => {
    givenHistory(webhookEndpointCreated({ audience: 'organization' }))
      .when(testWebhookEndpoint, input, { caller: callerOf('project') })
      .then('key-type-not-allowed');
  });
});
