import { updateWebhookEndpoint } from '#commands/webhook-endpoint/update-webhook-endpoint.ts';
import { callerOf, ids } from '#test/support/events/tenants.ts';
import {
  webhookEndpointChanged,
  webhookEndpointCreated,
  webhookEndpointDisabled,
  webhookEndpointEnabled,
} from '#test/support/events/webhook-events.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { webhookEndpointId: ids.webhookEndpoint };

describe('update_webhook_endpoint', () => {
  it('changes the given members of an endpoint and keeps the others', () => {
    givenHistory(webhookEndpointCreated({ description: 'Ours' }))
      .when(updateWebhookEndpoint, { ...input, eventTypes: ['FlowRenamed'] }, { related: null })
      .then(webhookEndpointChanged({ eventTypes: ['FlowRenamed'], description: 'Ours' }));
  });

  it('changes nothing when the endpoint has the requested values already', () => {
    givenHistory(webhookEndpointCreated())
      .when(updateWebhookEndpoint, { ...input, description: null, status: 'enabled' }, { related: null })
      .then();
  });

  it('disables an endpoint, and enables an endpoint that was disabled for failures', () => {
    givenHistory(webhookEndpointCreated())
      .when(updateWebhookEndpoint, { ...input, status: 'disabled' }, { related: null })
      .then(webhookEndpointDisabled('requested'));
    givenHistory(webhookEndpointCreated(), webhookEndpointDisabled('failing'))
      .when(updateWebhookEndpoint, { ...input, status: 'enabled' }, { related: null })
      .then(webhookEndpointEnabled());
  });

  it('refuses a URL to which the service must not deliver', () => {
    givenHistory(webhookEndpointCreated())
      .when(updateWebhookEndpoint, { ...input, url: 'https://10.0.0.1/' }, { related: 'is private' })
      .then('invalid-input');
  });

  describe('input of update_webhook_endpoint', () => {
    const of = inputOf(updateWebhookEndpoint, input);
    of.id('webhookEndpointId');
    of.choice('status', ['enabled', 'disabled']);
  });

  it('refuses a key of lower rank than the endpoint’s audience', () => {
    givenHistory(webhookEndpointCreated({ audience: 'organization' }))
      .when(updateWebhookEndpoint, { ...input, status: 'disabled' }, { caller: callerOf('project'), related: null })
      .then('key-type-not-allowed');
  });
});
