import { replayWebhookEndpoint } from '#commands/webhook-endpoint/replay-webhook-endpoint.ts';
import { callerOf, ids } from '#test/support/events/tenants.ts';
import { webhookEndpointCreated, webhookReplayRequested } from '#test/support/events/webhook-events.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { webhookEndpointId: ids.webhookEndpoint };

describe('replay_webhook_endpoint', () => {
  it('requests another delivery of the events after a position', () => {
    givenHistory(webhookEndpointCreated())
      .when(replayWebhookEndpoint, { ...input, after: 7 })
      .then(webhookReplayRequested(7));
  });

  it('refuses a key of lower rank than the endpoint’s audience', () => {
    givenHistory(webhookEndpointCreated({ audience: 'organization' }))
      .when(replayWebhookEndpoint, { ...input, after: 7 }, { caller: callerOf('project') })
      .then('key-type-not-allowed');
  });

  describe('input of replay_webhook_endpoint', () => {
    const of = inputOf(replayWebhookEndpoint, { ...input, after: 1 });
    of.refuses('after', -1);
    of.refuses('after', 1.5);
    of.refuses('after', null);
  });
});
