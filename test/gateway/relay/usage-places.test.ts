import assert from 'node:assert/strict';
import {
  chunk,
  completion,
  done,
  FakeProvider,
  json,
  role,
  stream,
  words,
} from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, post, startGateway } from '#test/gateway/support/gateway-service.ts';

const usage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };

/** Where providers of chats report usage: in an answer, or in the last chunk of a stream. */
const places: Readonly<Record<string, { readonly reported: object; readonly cached?: number }>> = {
  Groq: { reported: { x_groq: { id: 'req_1', usage } } },
  Moonshot: { reported: { usage: { ...usage, cached_tokens: 5 } }, cached: 5 },
  DeepSeek: { reported: { usage: { ...usage, prompt_cache_hit_tokens: 5 } }, cached: 5 },
  'Moonshot in the choice': { reported: { choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] } },
};

describe('The usage of a provider of chats', () => {
  let provider: FakeProvider;
  let service: GatewayService;

  before(async () => {
    provider = await FakeProvider.start();
    service = await startGateway({
      providers: { chats: { kind: 'openai-compatible', baseUrl: provider.baseUrl } },
      models: { chat: { targets: [{ provider: 'chats', model: 'x' }] } },
    });
  });
  after(async () => {
    await service.stop();
    await provider.stop();
  });
  beforeEach(() => {
    service.records.length = 0;
  });

  const ask = { model: 'chat', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] };

  for (const [who, { reported, cached }] of Object.entries(places))
    for (const path of ['/v1/chat/completions', '/v1/messages']) {
      const tokens = { input: 9, output: 4, ...(cached === undefined ? {} : { cachedInput: cached }) };

      it(`of ${who} is recorded for a stream at ${path}`, async () => {
        provider.answers(stream([role, ...words('hello'), chunk({}, 'stop', reported), done]));
        const answer = await post(service, path, { ...ask, stream: true });
        assert.match(answer.text, /hello/);
        assert.deepEqual(service.records[0]?.tokens, tokens);
      });

      if (!('choices' in reported))
        it(`of ${who} is recorded for a whole answer at ${path}`, async () => {
          const { usage: _, ...answered } = completion('hello') as Record<string, unknown>;
          provider.answers(json({ ...answered, ...reported }));
          assert.equal((await post(service, path, ask)).status, 200);
          assert.deepEqual(service.records[0]?.tokens, tokens);
        });
    }
});
