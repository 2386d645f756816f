import assert from 'node:assert/strict';
import { chatService, messages, path } from '#test/gateway/support/chat-service.ts';
import { completion, error, json, role, silence, stream, words } from '#test/gateway/support/fake-provider.ts';
import { openChat, post } from '#test/gateway/support/gateway-service.ts';
import { eventually } from '#test/support/run/eventually.ts';

describe('the log line of a gateway call', () => {
  const given = chatService({ primary: error(500, 'server_error'), backup: json(completion('from the backup')) });
  const lines = () =>
    given.service
      .logged()
      .split('\n')
      .filter((line) => line.includes('"msg":"request"'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const lineOf = async () => {
    await eventually(() => lines().length > 0, 'the line');
    const { operation, path: template, status, code, model, target, attempts } = lines()[0] ?? {};
    return { operation, path: template, status, code, model, target, attempts };
  };
  const common = { operation: 'complete_chat', path };

  it('names model, target and attempts', async () => {
    await post(given.service, path, { model: 'auto', messages });
    assert.deepEqual(await lineOf(), {
      ...common,
      status: 200,
      code: undefined,
      model: 'large',
      target: 'backup/other-y',
      attempts: 4,
    });
  });

  it('shows a stream that broke with the status and the code of its failure', async () => {
    given.primary.answers(stream([role, ...words('half ')], { after: 'cut' }));
    assert.equal((await post(given.service, path, { model: 'alone', messages, stream: true })).status, 200);
    assert.deepEqual(await lineOf(), {
      ...common,
      status: 502,
      code: 'provider_reset',
      model: 'alone',
      target: 'primary/gpt-x',
      attempts: 1,
    });
    const metrics = await (await fetch(`${given.service.url}/metrics`)).text();
    assert.match(metrics, /operation="complete_chat",method="POST",status="502"} 1\n/);
  });

  it('shows a client that left in the middle with 499', async () => {
    given.primary.answers(stream([role, ...words('half ')], { after: 'stall' }));
    const client = openChat(given.service, { model: 'alone', messages, stream: true });
    await eventually(() => client.received().includes('half'), 'the beginning');
    client.leave();
    assert.equal((await lineOf()).status, 499);
  });

  it('shows a client that left before the answer with 499', async () => {
    given.primary.answers(silence);
    const client = openChat(given.service, { model: 'alone', messages });
    await eventually(() => given.primary.seen.length === 1, 'the request');
    client.leave();
    assert.equal((await lineOf()).status, 499);
  });

  it('names the error code of a call that reached no model', async () => {
    await post(given.service, path, { model: 'gpt-9', messages });
    assert.deepEqual(await lineOf(), {
      ...common,
      status: 404,
      code: 'model_not_found',
      model: undefined,
      target: undefined,
      attempts: undefined,
    });
  });
});
