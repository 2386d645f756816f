import assert from 'node:assert/strict';
import { bytes, FakeProvider, json } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, post, startGateway } from '#test/gateway/support/gateway-service.ts';

const said = (text: string, more: object = {}) => ({
  responseId: 'r1',
  modelVersion: 'gemini-x',
  candidates: [{ content: { role: 'model', parts: [{ text }] }, ...more }],
});
const ended = { finishReason: 'STOP' };
const usageMetadata = { promptTokenCount: 7, candidatesTokenCount: 2 };
const hello = { model: 'words', messages: [{ role: 'user', content: 'Hi' }] };

describe('a provider with a protocol of its own', () => {
  let provider: FakeProvider;
  let service: GatewayService;

  before(async () => {
    provider = await FakeProvider.start();
    service = await startGateway({
      providers: { google: { kind: 'gemini', baseUrl: provider.baseUrl, apiKeyEnv: 'PROVIDER_KEY' } },
      models: { words: { targets: [{ provider: 'google', model: 'gemini-x' }] } },
    });
  });
  after(async () => {
    await service.stop();
    await provider.stop();
  });

  it('answers a client of chat completions', async () => {
    provider.answers(json({ ...said('Hello', ended), usageMetadata }));
    const messages = [{ role: 'system', content: 'Be kind.' }, ...hello.messages];
    const answer = await post(service, '/v1/chat/completions', { ...hello, messages, max_tokens: 9 });
    const { choices, usage } = answer.json() as { choices: ReadonlyArray<object>; usage: Record<string, unknown> };
    assert.partialDeepStrictEqual(choices, [{ message: { content: 'Hello' }, finish_reason: 'stop' }]);
    assert.deepEqual([usage.prompt_tokens, usage.completion_tokens], [7, 2]);
    assert.deepEqual(service.records.at(-1)?.tokens, { input: 7, output: 2 });
    const [seen] = provider.seen;
    assert.deepEqual(
      [seen?.path, seen?.headers['x-goog-api-key']],
      ['/v1/models/gemini-x:generateContent', 'provider-secret'],
    );
    assert.deepEqual(JSON.parse(String(seen?.body)), {
      systemInstruction: { parts: [{ text: 'Be kind.' }] },
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: { maxOutputTokens: 9, stopSequences: [] },
    });
  });

  it('streams to a client of Messages', async () => {
    const chunks = [said('Hel'), { ...said('lo', ended), usageMetadata }];
    const stream = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
    provider.answers(bytes(stream, { 'content-type': 'text/event-stream' }));
    const answer = await post(service, '/v1/messages', { ...hello, max_tokens: 9, stream: true });
    const texts = Array.from(answer.text.matchAll(/"text_delta","text":"(.*?)"/g), ([, text]) => text);
    assert.deepEqual(texts, ['Hel', 'lo']);
    assert.match(answer.text, /event: message_stop/);
    assert.equal(provider.seen[0]?.path, '/v1/models/gemini-x:streamGenerateContent?alt=sse');
  });

  it('refuses what it cannot express', async () => {
    const tools = [{ type: 'function', function: { name: 'look' } }];
    const answer = await post(service, '/v1/chat/completions', { ...hello, tools });
    assert.equal(answer.status, 422);
    assert.match(answer.text, /this target gives texts alone/);
  });
});
