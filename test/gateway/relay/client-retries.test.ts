import assert from 'node:assert/strict';
import { chatService, messages, path } from '#test/gateway/support/chat-service.ts';
import { error } from '#test/gateway/support/fake-provider.ts';
import { post } from '#test/gateway/support/gateway-service.ts';

describe('a client that retries in front of a gateway that retries', () => {
  const given = chatService({ primary: error(500, 'server_error'), backup: error(500, 'server_error') });
  const retryFields = async (model = 'alone') => {
    const { status, headers } = await post(given.service, path, { model, messages });
    return [status, headers.get('x-should-retry'), headers.get('retry-after')];
  };

  it('is asked not to retry once every target has failed', async () => {
    assert.deepEqual(await retryFields('large'), [502, 'false', null]);
  });

  it('is asked not to retry, and gets the time to wait when waiting helps', async () => {
    given.primary.answers(error(503, 'overloaded'));
    assert.deepEqual(await retryFields(), [503, 'false', '1']);
    given.primary.answers(error(429, 'rate_limit'));
    assert.deepEqual(await retryFields(), [429, 'false', '1']);
    given.primary.answers(error(429, 'rate_limit', { 'retry-after-ms': '20' }));
    assert.deepEqual(await retryFields(), [429, 'false', '1']);
  });

  it('is asked not to retry when a provider refuses the operator’s key', async () => {
    given.primary.answers(error(401, 'invalid_api_key'));
    assert.deepEqual(await retryFields(), [502, 'false', null]);
  });

  it('may retry itself when the provider asks for a longer wait than the gateway’s', async () => {
    given.primary.answers(error(429, 'rate_limit', { 'retry-after': '30' }));
    assert.deepEqual(await retryFields(), [429, null, '30']);
    assert.equal(given.primary.begun, 1);
  });

  it('gets a provider’s refusal of a faulty request unchanged', async () => {
    given.primary.answers(error(400, 'bad_value', { 'x-should-retry': 'true' }));
    assert.deepEqual(await retryFields(), [400, 'true', null]);
  });
});
