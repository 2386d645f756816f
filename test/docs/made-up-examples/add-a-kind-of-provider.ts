import assert from 'node:assert/strict';
import { bytes, FakeProvider } from '#test/gateway/support/fake-provider.ts';
import { post, startGateway } from '#test/gateway/support/gateway-service.ts';

it('speaks through the new kind of provider', async () => {
  const provider = await FakeProvider.start();
  const service = await startGateway({
    providers: { acme: { kind: 'acme-speech', baseUrl: provider.baseUrl, apiKeyEnv: 'PROVIDER_KEY' } },
    voices: { narrator: { provider: 'acme', voice: 'v7', model: 'clear' } },
  });
  try {
    provider.answers(bytes('RIFF', { 'content-type': 'application/octet-stream' }));
    const answer = await post(service, '/v1/audio/speech', { model: 'auto', voice: 'narrator', input: 'Hello' });
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'audio/wav']);
    assert.equal(answer.text, 'RIFF');
    const [seen] = provider.seen;
    assert.deepEqual([seen?.path, seen?.headers['acme-key']], ['/v1/speak', 'provider-secret']);
    assert.deepEqual(JSON.parse(String(seen?.body)), { engine: 'clear', speaker: 'v7', say: 'Hello' });
  } finally {
    await service.stop();
    await provider.stop();
  }
});
