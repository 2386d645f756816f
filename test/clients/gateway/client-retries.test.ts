import assert from 'node:assert/strict';
import OpenAI, { APIError } from 'openai';
import { chatService, messages, path } from '../../gateway/support/chat-service.ts';
import { completion, error, json, reset } from '../../gateway/support/fake-provider.ts';
import { post } from '../../gateway/support/gateway-service.ts';
import { goodKey } from '../../http/support/fake-service.ts';
import { eventually } from '../../support/run/eventually.ts';

describe('a client that retries in front of a gateway that retries', () => {
  const given = chatService({ primary: error(500, 'server_error'), backup: error(500, 'server_error') });
  const user = [{ role: 'user' as const, content: 'hi' }];
  const client = () => new OpenAI({ apiKey: goodKey, baseURL: `${given.service.url}/v1`, maxRetries: 2 });

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

  it('retries itself when the gateway is configured without retries', async () => {
    const model = { targets: [{ provider: 'primary', model: 'gpt-x' }], retries: 0 };
    const configuration = given.configuration();
    await given.restart({ ...configuration, models: { ...configuration.models, alone: model } }, {});
    given.primary.answers(error(503, 'overloaded', { 'retry-after-ms': '5' }), json(completion('at the second try')));
    const { choices } = await client().chat.completions.create({ model: 'alone', messages: user });
    assert.equal(choices[0]?.message.content, 'at the second try');
    assert.equal(given.primary.begun, 2);
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
