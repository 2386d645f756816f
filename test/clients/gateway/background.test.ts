import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { FakeProvider, json } from '../../gateway/support/fake-provider.ts';
import { type GatewayService, startGateway } from '../../gateway/support/gateway-service.ts';
import { openAiResponse, outputMessage } from '../../gateway/support/strict-responses.ts';
import { goodKey } from '../../http/support/fake-service.ts';

describe('a Response in the background', () => {
  let provider: FakeProvider;
  let service: GatewayService;

  before(async () => {
    provider = await FakeProvider.start();
    const { baseUrl } = provider;
    service = await startGateway({
      providers: { openai: { kind: 'openai-compatible', baseUrl, responses: true, hostedTools: true } },
      models: { native: { targets: [{ provider: 'openai', model: 'gpt-x' }] } },
    });
  });
  after(async () => {
    await service.stop();
    await provider.stop();
  });

  it('is made, read, cancelled and deleted by the official client', async () => {
    const client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: goodKey, maxRetries: 0 });
    const kept = { background: true, store: true };
    const queued = openAiResponse([], { ...kept, status: 'queued', usage: null });
    provider.answers(json(queued));
    const made = await client.responses.create({ model: 'native', input: 'think long', background: true });
    assert.equal(made.status, 'queued');
    const { id } = queued;
    provider.answers(json({ ...openAiResponse([outputMessage('a long answer')], kept), id }), json({ id }));
    assert.equal((await client.responses.retrieve(made.id)).output_text, 'a long answer');
    assert.equal((await client.responses.cancel(made.id)).status, 'completed');
    await client.responses.delete(made.id);
    await assert.rejects(client.responses.retrieve(made.id), { status: 404 });
  });
});
