import assert from 'node:assert/strict';
import { FakeProvider, json, saying, stream } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, post, startGateway } from '#test/gateway/support/gateway-service.ts';
import { strictChat } from '#test/gateway/support/strict-chat.ts';
import {
  eventsOfResponse,
  openAiResponse,
  outputMessage,
  strictResponses,
} from '#test/gateway/support/strict-responses.ts';

const hi = { messages: [{ role: 'user', content: 'hi' }], max_tokens: 20 };
const clients: ReadonlyArray<readonly [path: string, body: object]> = [
  ['/v1/chat/completions', hi],
  ['/v1/messages', hi],
  ['/v1/responses', { input: 'hi', store: false }],
];

describe('the protocol in which a target is asked', () => {
  let provider: FakeProvider;
  let backup: FakeProvider;
  let service: GatewayService;

  before(async () => {
    [provider, backup] = await Promise.all([FakeProvider.start(), FakeProvider.start()]);
    const target = (protocol?: string) => ({ provider: 'both', model: 'x', protocol });
    const backupTarget = { provider: 'backup', model: 'y', prefill: true };
    service = await startGateway({
      providers: {
        both: { kind: 'openai-compatible', baseUrl: provider.baseUrl, responses: true, apiKeyEnv: 'PROVIDER_KEY' },
        backup: { kind: 'openai-compatible', baseUrl: backup.baseUrl },
      },
      models: {
        default: { targets: [target()] },
        chat: { targets: [target('openai-chat')] },
        responses: { targets: [target('openai-responses')] },
        continued: { targets: [target('openai-responses')], fallbacks: [backupTarget], onStreamFailure: 'continue' },
      },
    });
  });
  after(async () => {
    await service.stop();
    await Promise.all([provider.stop(), backup.stop()]);
  });

  const pathFor = async (model: string, path: string, body: object): Promise<string | undefined> => {
    const isAsked = (name: string) => provider.seen.at(-1)?.path.endsWith(name) === true;
    provider.answers((res, seen) =>
      (seen.path.endsWith('/responses') ? strictResponses() : strictChat()).behaviour(res, seen),
    );
    const answer = await post(service, path, { model, ...body });
    assert.equal(answer.status, 200, answer.text);
    assert.match(answer.text, /You said: hi/);
    return ['/responses', '/chat/completions'].find(isAsked);
  };

  for (const [path, body] of clients)
    it(`is the one that its entry names, for a client of ${path}`, async () => {
      assert.equal(await pathFor('responses', path, body), '/responses');
      assert.equal(await pathFor('chat', path, body), '/chat/completions');
      const isNative = path === '/v1/responses';
      assert.equal(await pathFor('default', path, body), isNative ? '/responses' : '/chat/completions');
    });

  it('leaves a request of its own client as it came', async () => {
    provider.answers(json(openAiResponse([outputMessage('Hi.')])));
    const body = '{"model":"responses", "input":[{"role":"user","content":"hi"}],"store":false,"unknown":1.0}';
    await post(service, '/v1/responses', body);
    assert.equal(String(provider.seen.at(-1)?.body), body.replace('"responses"', '"x"'));
  });

  it('gives the usage of every stream, and not to a client that does not ask for it', async () => {
    provider.answers(stream(eventsOfResponse(openAiResponse([outputMessage('Hi.')]))));
    service.records.length = 0;
    const { text } = await post(service, '/v1/chat/completions', { model: 'responses', stream: true, ...hi });
    assert.doesNotMatch(text, /"usage":\{/);
    assert.deepEqual([service.records[0]?.tokens?.input, service.records[0]?.tokens?.output], [15, 7]);
  });

  it('lets another target continue a stream that breaks', async () => {
    const events = eventsOfResponse(openAiResponse([outputMessage('One two')]));
    provider.answers(stream(events.slice(0, 6), { after: 'cut' }));
    backup.answers(stream(saying('three')));
    const { text } = await post(service, '/v1/chat/completions', { model: 'continued', stream: true, ...hi });
    assert.match(text, /three/);
    const [, prefill] = JSON.parse(String(backup.seen.at(-1)?.body)).messages;
    assert.deepEqual([prefill.role, 'One two'.startsWith(prefill.content)], ['assistant', true]);
  });

  it('lets another target answer in place of one whose stream fails before its content', async () => {
    const error = { code: 'server_error', message: 'Broken' };
    const response = { id: 'resp_1', status: 'failed', error };
    provider.answers(
      stream([`event: response.failed\ndata: ${JSON.stringify({ type: 'response.failed', response })}\n\n`]),
    );
    backup.answers(stream(saying('from the backup')));
    const { text } = await post(service, '/v1/messages', { model: 'continued', stream: true, ...hi });
    assert.match(text, /from the backup/);
  });

  it('passes an event of more than 1 MiB', async () => {
    const long = 'x'.repeat(3 * 1024 * 1024);
    provider.answers(stream(eventsOfResponse(openAiResponse([outputMessage(long)]))));
    const { text } = await post(service, '/v1/messages', { model: 'responses', stream: true, ...hi });
    assert.equal(
      [...text.matchAll(/"text":"(x*)"/g)].reduce((sum, [, piece = '']) => sum + piece.length, 0),
      long.length,
    );
    assert.match(text, /message_stop/);
  });
});
