import assert from 'node:assert/strict';
import OpenAI, { APIError } from 'openai';
import { chatService, messages, path } from '#test/gateway/support/chat-service.ts';
import { completion, error, json, reset } from '#test/gateway/support/fake-provider.ts';
import { post } from '#test/gateway/support/gateway-service.ts';
import { goodKey } from '#test/http/support/fake-service.ts';
import { eventually } from '#test/support/run/eventually.ts';

describe('a client that retries in front of a gateway that retries', () => {
  const given = chatService({ primary: error(500, 'server_error'), backup: error(500, 'server_error') });
  const user = [{ role: 'user' as const, content: 'hi' }];
  const client = () => new OpenAI({ apiKey: goodKey, baseURL: `${given.service.url}/v1`, maxRetries: 2 });
  const retryFields = async (model = 'alone') => {
    const { status, headers } = await post(given.service, path, { model, messages });
    return [status, headers.get('x-should-retry'), headers.get('retry-after')];
  };

  for (const [name, failing] of [
    ['a provider that fails', error(500, 'server_error')],
    ['a provider that is overloaded', error(503, 'overloaded')],
    ['a provider that breaks connections', reset],
  ] as const)
    it(`causes only the gateway’s own attempts at ${name}`, async () => {
      given.primary.answers(failing);
      await assert.rejects(client().chat.completions.create({ model: 'alone', messages: user }), APIError);
      assert.equal(given.primary.begun, 2, 'the model allows one retry');
    });

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

  it('retries itself when the gateway is configured without retries', async () => {
    const model = { targets: [{ provider: 'primary', model: 'gpt-x' }], retries: 0 };
    const configuration = given.configuration();
    await given.restart({ ...configuration, models: { ...configuration.models, alone: model } }, {});
    given.primary.answers(error(503, 'overloaded', { 'retry-after-ms': '5' }), json(completion('at the second try')));
    const { choices } = await client().chat.completions.create({ model: 'alone', messages: user });
    assert.equal(choices[0]?.message.content, 'at the second try');
    assert.equal(given.primary.begun, 2);
  });

  it('gets a provider’s refusal of a faulty request unchanged', async () => {
    given.primary.answers(error(400, 'bad_value', { 'x-should-retry': 'true' }));
    assert.deepEqual(await retryFields(), [400, 'true', null]);
  });

  it('retries when the gateway itself has no capacity', async () => {
    const service = await given.restart(
      { ...given.configuration(), limits: { callsAtOnce: 1 } },
      { caller: { keyType: 'project' } },
    );
    given.primary.answers(async (res, seen) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await json(completion('late'))(res, seen);
    });
    const first = post(service, path, { model: 'alone', messages });
    await eventually(() => given.primary.begun === 1, 'the first call');
    const second = await client().chat.completions.create({ model: 'alone', messages: user });
    assert.equal(second.choices[0]?.message.content, 'late');
    assert.equal((await first).status, 200);
  });
});
