import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import {
  type Behaviour,
  bytes,
  chunk,
  done,
  FakeProvider,
  json,
  role,
  stream,
  words,
} from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, post, type Received, startGateway } from '#test/gateway/support/gateway-service.ts';

const uuid = '9d50ef40-6cc8-4ca6-9d35-1dc9cf26235c';
const ownId = '0dccdde6-f924-4f1b-bb3b-92ef846e0a5b';
const message = `Request ${ownId}: this request would exceed your organization's rate limit (org: ${uuid}, model: m).`;
const anthropicError = { type: 'error', error: { type: 'rate_limit_error', message } };
const openAiError = { error: { message, type: 'rate_limit_error', code: 429, metadata: { organization_id: uuid } } };
const named = { 'anthropic-organization-id': uuid, 'openai-organization': uuid, 'x-account': uuid };

const eventOf = (event: { type: string }) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const started = [
  { type: 'message_start', message: { id: 'msg_1', model: 'm', usage: { input_tokens: 1, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Once' } },
].map(eventOf);
const failedResponse = {
  id: 'resp_1',
  object: 'response',
  status: 'failed',
  output: [
    {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: `Organization ${uuid.replace('9', '8')}` }],
    },
  ],
  error: { code: 'rate_limit_exceeded', message },
  usage: null,
};

describe('the operator’s account in an answer of a provider', () => {
  let provider: FakeProvider;
  let service: GatewayService;

  before(async () => {
    provider = await FakeProvider.start();
  });
  beforeEach(async () => {
    const { baseUrl } = provider;
    const names = ['chat', 'responses', 'anthropic'];
    service = await startGateway({
      providers: {
        chat: { kind: 'openai-compatible', baseUrl },
        responses: { kind: 'openai-compatible', baseUrl, responses: true, hostedTools: true },
        anthropic: { kind: 'anthropic', baseUrl },
      },
      models: Object.fromEntries(
        names.map((name) => [name, { targets: [{ provider: name, model: 'm' }], retries: 0 }]),
      ),
    });
  });
  afterEach(() => service.stop());
  after(() => provider.stop());

  const messages = [{ role: 'user', content: 'hi' }];
  const ask = (client: string, model: string, more: object = {}) => {
    if (client === 'chat') return post(service, '/v1/chat/completions', { model, messages, ...more });
    if (client === 'responses') return post(service, '/v1/responses', { model, input: 'hi', store: false, ...more });
    if (client === 'embeddings') return post(service, '/v1/embeddings', { model, input: 'hi' });
    return post(service, '/v1/messages', { model, messages, max_tokens: 9, ...more });
  };

  const showsNone = (answer: Received) => {
    const all = `${answer.text}\n${JSON.stringify([...answer.headers])}\n${service.logged()}${JSON.stringify(service.records)}`;
    assert.ok(!all.includes(uuid), all);
    assert.match(answer.text, /\[redacted\]/);
  };

  for (const [client, model, refusal] of [
    ['messages', 'anthropic', anthropicError],
    ['chat', 'anthropic', anthropicError],
    ['responses', 'anthropic', anthropicError],
    ['chat', 'chat', openAiError],
    ['messages', 'chat', openAiError],
    ['responses', 'responses', openAiError],
  ] as const)
    it(`is not in a refusal, and the client’s ids are: ${client} on ${model}`, async () => {
      for (const isStreamed of [false, true]) {
        provider.answers(json(refusal, 429, named));
        const answer = await ask(client, model, { stream: isStreamed });
        assert.equal(answer.status, 429);
        showsNone(answer);
        assert.ok(answer.text.includes(ownId));
      }
    });

  const chatError = `data: ${JSON.stringify(openAiError)}\n\n`;
  const ofChoice = chunk({}, 'error').replace(
    '"finish_reason"',
    `"error":${JSON.stringify(openAiError.error)},"finish_reason"`,
  );
  const errorText = JSON.stringify(openAiError.error);
  const largeText = 'x'.repeat(1_400_000);
  const largeChunk = (member: string) =>
    chunk({ content: largeText })
      .replace('"object"', '"o"')
      .replace(/\}\n\n$/, `,${member}}\n\n`);
  const largeChoice = (member: string) =>
    chunk({ content: largeText }).replace('"finish_reason"', `${member},"finish_reason"`);
  const failed = eventOf({ type: 'response.failed', ...{ sequence_number: 2, response: failedResponse } });
  const ofIncomplete = (instructions = '', metadata = '') =>
    eventOf({
      type: 'response.incomplete',
      ...{ sequence_number: 2, response: { instructions, ...failedResponse, status: 'incomplete', metadata } },
    });
  const delta = eventOf({
    type: 'response.output_text.delta',
    ...{ sequence_number: 1, item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'Once' },
  });
  for (const [client, model, name, pieces] of [
    ['messages', 'anthropic', 'before its content', [eventOf(anthropicError)]],
    ['messages', 'anthropic', 'after its content', [...started, eventOf(anthropicError)]],
    ['chat', 'anthropic', 'after its content', [...started, eventOf(anthropicError)]],
    ['responses', 'anthropic', 'after its content', [...started, eventOf(anthropicError)]],
    ['chat', 'chat', 'before its content', [chatError]],
    ['chat', 'chat', 'after its content', [role, ...words('Once'), chatError]],
    ['chat', 'chat', 'in a choice', [role, ...words('Once'), ofChoice, done]],
    ['chat', 'chat', 'after its large content', [role, ...words('Once'), largeChunk(`"error":${errorText}`)]],
    [
      'chat',
      'chat',
      'after its large content',
      [role, ...words('Once'), largeChunk(`"error":${JSON.stringify(message)}`)],
    ],
    ['chat', 'chat', 'in a choice of large content', [role, ...words('Once'), largeChoice(`"error":${errorText}`)]],
    ['messages', 'chat', 'after its content', [role, ...words('Once'), chatError]],
    ['messages', 'chat', 'in a choice', [role, ...words('Once'), ofChoice, done]],
    ['responses', 'responses', 'before its content', [failed]],
    ['responses', 'responses', 'after its content', [delta, failed]],
    ['responses', 'responses', 'after its content', [delta, ofIncomplete()]],
    ['responses', 'responses', 'after its content', [delta, ofIncomplete('x'.repeat(1_400_000))]],
    ['responses', 'responses', 'after its content', [delta, ofIncomplete('', 'x'.repeat(1_400_000))]],
  ] as const)
    it(`is not in an error inside of a stream, ${name}: ${client} on ${model}`, async () => {
      provider.answers(stream(pieces, { gapMs: 30, headers: named }));
      const answer = await ask(client, model, { stream: true });
      showsNone(answer);
      if (name !== 'before its content') assert.match(answer.text, /Once/);
    });

  const choiceThatFailed: Behaviour = json({
    choices: [{ index: 0, message: { role: 'assistant', content: 'Once' }, error: openAiError.error }],
  });
  for (const [client, model, name, answered] of [
    ['chat', 'chat', 'alone', json(openAiError, 200, named)],
    ['messages', 'anthropic', 'alone', json(anthropicError, 200, named)],
    ['chat', 'chat', 'of a choice', choiceThatFailed],
    ['messages', 'chat', 'of a choice', choiceThatFailed],
    ['responses', 'responses', 'of a response', json(failedResponse, 200, named)],
    ['embeddings', 'chat', 'of a list', json({ object: 'list', data: [], ...openAiError }, 200, named)],
    [
      'embeddings',
      'chat',
      'of a compressed list',
      bytes(gzipSync(JSON.stringify({ object: 'list', data: [], ...openAiError })), {
        ...named,
        'content-type': 'application/json',
        'content-encoding': 'gzip',
      }),
    ],
  ] as const)
    it(`is not in an error in a body of status 200, ${name}: ${client} on ${model}`, async () => {
      provider.answers(answered);
      showsNone(await ask(client, model));
    });

  it('is not in the error of a large body, of which every other byte stays', async () => {
    const large = { ...failedResponse, metadata: { long: `organization ${uuid.replace('9', '8')} `.repeat(20_000) } };
    provider.answers(json(large));
    const answer = await ask('responses', 'responses');
    showsNone(answer);
    assert.equal(
      answer.text,
      JSON.stringify({ ...large, error: { ...large.error, message: message.replace(uuid, '[redacted]') } }),
    );
  });

  it('is not in an error that is larger than a refusal: the answer is refused', async () => {
    provider.answers(json({ ...failedResponse, error: { message: `${message} `.repeat(10_000) } }));
    const answer = await ask('responses', 'responses');
    assert.equal(answer.status, 502);
    assert.ok(!answer.text.includes(uuid));
  });

  it('is not in a response that fails in the background', async () => {
    const begun = { ...failedResponse, status: 'queued', error: null, output: [] };
    provider.answers(
      stream([eventOf({ type: 'response.created', ...{ sequence_number: 0, response: begun } }), failed], {
        gapMs: 30,
      }),
    );
    const answer = await ask('responses', 'responses', { store: true, background: true, stream: true });
    assert.match(answer.text, /response\.failed/);
    showsNone(answer);
    // What is stored is what the client has seen.
    assert.ok(answer.text.includes(uuid.replace('9', '8')));
  });
});
