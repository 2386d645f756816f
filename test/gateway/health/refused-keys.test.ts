import assert from 'node:assert/strict';
import { chatService, messages, path } from '#test/gateway/support/chat-service.ts';
import { completion, error, json } from '#test/gateway/support/fake-provider.ts';
import { post } from '#test/gateway/support/gateway-service.ts';
import { goodKey } from '#test/http/support/fake-service.ts';

const served = json(completion('hello'));

describe('a target whose key is refused', () => {
  const given = chatService({ primary: error(401, 'invalid_api_key'), backup: served });
  const call = () => post(given.service, path, { model: 'alone', messages });
  const isKeyRefused = () =>
    given.service.gateway.targets().find(({ target }) => target === 'primary/gpt-x')?.isKeyRefused;

  it('is shown as such until a call is served', async () => {
    assert.equal(isKeyRefused(), false);
    await call();
    assert.equal(isKeyRefused(), true);
    given.primary.answers(error(500, 'server_error'));
    await call();
    assert.equal(isKeyRefused(), true);
    given.primary.answers(served);
    assert.equal((await call()).status, 200);
    assert.equal(isKeyRefused(), false);
  });

  it('is shown as such until the entry of its provider changes, and not of another', async () => {
    await call();
    const { providers, ...rest } = given.configuration();
    const { primary, backup } = providers;
    given.service.configure({ ...rest, providers: { primary, backup: { ...backup, timeouts: { totalMs: 1_000 } } } });
    assert.equal(isKeyRefused(), true);
    given.service.configure({ ...rest, providers: { backup, primary: { ...primary, timeouts: { totalMs: 1_000 } } } });
    assert.equal(isKeyRefused(), false);
  });
});

describe('a provider that is busy to the end', () => {
  const given = chatService({ primary: error(429, 'rate_limit'), backup: served });

  it('is recorded as a failure of the target, while the client gets its 429', async () => {
    assert.equal((await post(given.service, path, { model: 'alone', messages })).status, 429);
    const [record] = given.service.records;
    assert.deepEqual([record?.outcome, record?.target], ['failed', 'primary/gpt-x']);
  });

  it('is not one for a request that the provider refuses', async () => {
    given.primary.answers(error(400, 'bad_value'));
    await post(given.service, path, { model: 'alone', messages });
    assert.equal(given.service.records[0]?.outcome, 'refused');
  });
});

describe('GET /v1/models', () => {
  const given = chatService({ primary: served, backup: served });
  const modelsFor = async (keyType: 'admin' | 'partner' | 'organization' | 'project', more: object = {}) => {
    const service = await given.restart({ ...given.configuration(), ...more }, { caller: { keyType } });
    const answer = await fetch(`${service.url}/v1/models`, { headers: { authorization: `Bearer ${goodKey}` } });
    const { data } = (await answer.json()) as { data: ReadonlyArray<{ id: string; pricing?: object }> };
    return new Map(data.map(({ id, pricing }) => [id, pricing]));
  };

  it('shows the prices of targets, with their currency, to those who run or resell the platform', async () => {
    const price = { inputPerMillion: 2, outputPerMillion: 8 };
    for (const keyType of ['admin', 'partner'] as const) {
      const models = await modelsFor(keyType, { currency: 'EUR' });
      const targets = ['primary/gpt-x', 'backup/other-y'].map((target) => ({ target, price }));
      assert.deepEqual(models.get('large'), { currency: 'EUR', targets });
      assert.deepEqual(models.get('alone'), { currency: 'EUR', targets: [{ target: 'primary/gpt-x', price: null }] });
    }
  });

  it('shows no prices to others, and USD by default', async () => {
    for (const keyType of ['organization', 'project'] as const)
      assert.deepEqual([...new Set((await modelsFor(keyType)).values())], [undefined]);
    assert.equal((((await modelsFor('admin')).get('small') ?? {}) as { currency?: string }).currency, 'USD');
  });
});
