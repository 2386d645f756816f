import assert from 'node:assert/strict';
import { messages, path } from '#test/gateway/support/chat-service.ts';
import { completion } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, post, startGateway } from '#test/gateway/support/gateway-service.ts';
import { answerOf, RawProvider } from '#test/gateway/support/raw-provider.ts';
import { eventually } from '#test/support/run/eventually.ts';

describe('A provider that sends more than its answers', () => {
  let provider: RawProvider;
  let service: GatewayService;

  beforeEach(async () => {
    provider = await RawProvider.start();
    service = await startGateway({
      providers: { talkative: { kind: 'openai-compatible', baseUrl: `${provider.origin}/v1` } },
      models: { large: { targets: [{ provider: 'talkative', model: 'gpt-x' }] } },
    });
  });
  afterEach(async () => {
    await provider.stop();
    await service.stop();
  });

  it('gives each caller its own answer, and is named in one line', async () => {
    provider.answers(({ socket }, body) => {
      const { user } = JSON.parse(String(body));
      const answer = answerOf(JSON.stringify(completion(user)), 'content-type: application/json\r\n');
      socket.write(answer);
      setTimeout(() => socket.write(answer), 5);
    });
    for (const user of ['one', 'two', 'three', 'four']) {
      const { status, text } = await post(service, path, { model: 'large', messages, user });
      assert.equal(status, 200);
      assert.equal(JSON.parse(text).choices[0].message.content, user);
      await eventually(() => provider.sockets.size === 0, 'the end of the connection');
    }
    const lines = service
      .logged()
      .split('\n')
      .filter((line) => line.includes('excess-bytes'));
    assert.equal(lines.length, 1);
    const { level, provider: named } = JSON.parse(lines[0] ?? '');
    assert.deepEqual([level, named], ['warn', 'talkative']);
  });
});
