import assert from 'node:assert/strict';
import { bytes, FakeProvider, json } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, post, startGateway } from '#test/gateway/support/gateway-service.ts';

describe('a protocol of clients', () => {
  let provider: FakeProvider;
  let service: GatewayService;

  before(async () => {
    provider = await FakeProvider.start();
    service = await startGateway({
      providers: { openai: { kind: 'openai-compatible', baseUrl: provider.baseUrl } },
      models: { words: { targets: [{ provider: 'openai', model: 'gpt-x' }] } },
    });
  });
  after(async () => {
    await service.stop();
    await provider.stop();
  });

  it('gets the answer of a provider of chats', async () => {
    const message = { role: 'assistant', content: 'Hello' };
    provider.answers(json({ choices: [{ index: 0, message, finish_reason: 'stop' }] }));
    const answer = await post(service, '/v1/generate', { model: 'words', prompt: 'Hi' });
    assert.deepEqual([answer.status, answer.json()], [200, { text: 'Hello' }]);
    const asked = JSON.parse(String(provider.seen[0]?.body)) as Record<string, unknown>;
    assert.deepEqual([asked.model, asked.messages], ['gpt-x', [{ role: 'user', content: 'Hi' }]]);
    assert.equal(service.records.at(-1)?.operation, 'texts');
  });

  it('gets its stream', async () => {
    const chunks = [{ delta: { content: 'Hel' } }, { delta: { content: 'lo' } }, { delta: {}, finish_reason: 'stop' }];
    const events = chunks.map((choice) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`);
    provider.answers(bytes(`${events.join('')}data: [DONE]\n\n`, { 'content-type': 'text/event-stream' }));
    const answer = await post(service, '/v1/generate', { model: 'words', prompt: 'Hi', stream: true });
    assert.equal(answer.text, 'data: {"text":"Hel"}\n\ndata: {"text":"lo"}\n\ndata: [DONE]\n\n');
  });

  it('reads its errors', async () => {
    const answer = await post(service, '/v1/generate', { model: 'words' });
    assert.equal(answer.status, 422);
    assert.match(answer.text, /prompt/);
  });
});
