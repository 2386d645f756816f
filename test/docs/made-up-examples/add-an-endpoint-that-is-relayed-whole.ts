import assert from 'node:assert/strict';
import { FakeProvider, json } from '#test/gateway/support/fake-provider.ts';
import { post, startGateway } from '#test/gateway/support/gateway-service.ts';

it('relays what the new endpoint gets, but for the model', async () => {
  const provider = await FakeProvider.start();
  const service = await startGateway({
    providers: { cohere: { kind: 'openai-compatible', baseUrl: provider.baseUrl } },
    models: { ranks: { targets: [{ provider: 'cohere', model: 'rerank-x' }] } },
  });
  const ranking = { results: [{ index: 0, relevance_score: 0.9 }] };
  try {
    provider.answers(json(ranking));
    const request = { model: 'ranks', query: 'When do you open?', documents: ['We open at nine.'] };
    const answer = await post(service, '/v1/rerank', request);
    assert.deepEqual([answer.status, answer.json()], [200, ranking]);
    const [seen] = provider.seen;
    assert.equal(seen?.path, '/v1/rerank');
    assert.deepEqual(JSON.parse(String(seen?.body)), { ...request, model: 'rerank-x' });
    assert.equal(service.records.at(-1)?.operation, 'rerank');
    assert.equal((await post(service, '/v1/rerank', { query: 'What?' })).status, 422);
  } finally {
    await service.stop();
    await provider.stop();
  }
});
