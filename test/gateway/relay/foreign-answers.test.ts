import assert from 'node:assert/strict';
import { Admission } from '#exchange/admission.ts';
import type { ByteBudget } from '#exchange/byte-budget.ts';
import { maxForeignValues } from '#gateway/framing/foreign-json.ts';
import { bytes, chunk, done, FakeProvider, stop, stream, words } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, post, startGateway } from '#test/gateway/support/gateway-service.ts';
import { goodKey } from '#test/http/support/fake-service.ts';
import { eventually } from '#test/support/run/eventually.ts';

const mebibyte = 1024 * 1024;
const isJson = { 'content-type': 'application/json' };
const deep = '['.repeat(200_000) + ']'.repeat(200_000);
const many = `[${'{},'.repeat(maxForeignValues)}{}]`;

/** What hostile members an answer has beside its own. */
const hostile = { 'too many levels': deep, 'too many values': many };

const chatAnswer = (x: string) =>
  `{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"x":${x}}`;
const responseAnswer = (x: string, status: string) =>
  `{"id":"resp_${'d'.repeat(20)}","object":"response","status":"${status}","model":"x","background":${status !== 'completed'},"output":[],"x":${x}}`;
const messagesAnswer = (x: string) =>
  `{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","x":${x}}`;

/** Calls of each protocol, and the bodies that answer them. */
const calls = {
  'a chat': ['/v1/chat/completions', { model: 'chat', messages: [{ role: 'user', content: 'x' }] }, chatAnswer],
  'a response': ['/v1/responses', { model: 'native', input: 'x' }, (x: string) => responseAnswer(x, 'completed')],
  'a response in the background': [
    '/v1/responses',
    { model: 'native', input: 'x', background: true },
    (x: string) => responseAnswer(x, 'queued'),
  ],
  'a translated response': ['/v1/responses', { model: 'chat', input: 'x' }, chatAnswer],
  'a message': [
    '/v1/messages',
    { model: 'claude', max_tokens: 5, messages: [{ role: 'user', content: 'x' }] },
    messagesAnswer,
  ],
  'a translated chat': [
    '/v1/chat/completions',
    { model: 'claude', messages: [{ role: 'user', content: 'x' }] },
    messagesAnswer,
  ],
} as const;

/** The calls whose answers do not become values as a whole. */
const passing = new Set(['a chat', 'a response', 'a message']);

describe('What providers send', () => {
  let provider: FakeProvider;
  let service: GatewayService;
  let answers: ByteBudget;

  before(async () => {
    provider = await FakeProvider.start();
    const admission = new Admission();
    answers = admission.budgets.answer;
    const { baseUrl } = provider;
    const target = (name: string) => ({ targets: [{ provider: name, model: 'x', maxOutputTokens: 100 }], retries: 0 });
    service = await startGateway(
      {
        providers: {
          chat: { kind: 'openai-compatible', baseUrl, responses: false },
          native: { kind: 'openai-compatible', baseUrl, responses: true, hostedTools: true },
          claude: { kind: 'anthropic', baseUrl },
        },
        models: { chat: target('chat'), native: target('native'), claude: target('claude'), hear: target('chat') },
      },
      { admission },
    );
  });

  after(async () => {
    await service.stop();
    await provider.stop();
  });

  beforeEach(() => {
    service.records.length = 0;
  });

  afterEach(() => eventually(() => answers.bytes === 0));

  for (const [what, x] of Object.entries(hostile)) {
    for (const [call, [path, body, answerWith]] of Object.entries(calls)) {
      if (x === many && passing.has(call)) continue;
      it(`refuses ${call} whose answer has ${what}, as the provider's failure`, async () => {
        provider.answers(bytes(answerWith(x), isJson));
        const answer = await post(service, path, body);
        assert.equal(answer.status, 502, answer.text.slice(0, 200));
        assert.match(answer.text, /more than the gateway accepts/);
        assert.equal(service.records[0]?.attempts[0]?.errorType, 'provider_too_large');
      });
    }

    it(`ends a stream in which an event has ${what}`, async () => {
      const event = `data: {"choices":[{"index":0,"delta":{"content":"b"}}],"x":${x}}\n\n`;
      provider.answers(stream([...words('a'), event, stop, done]));
      const answer = await post(service, '/v1/chat/completions', { ...calls['a chat'][1], stream: true });
      assert.match(answer.text, /"content":"a"[\s\S]*provider_too_large/);
    });

    it(`passes a refusal on in a form of its own if it has ${what}`, async () => {
      provider.answers(bytes(`{"error":{"message":"no"},"x":${x}}`, isJson, 400));
      const answer = await post(service, '/v1/chat/completions', calls['a chat'][1]);
      assert.equal(answer.status, 400);
      assert.equal(typeof (answer.json() as { error: { message: string } }).error.message, 'string');
    });
  }

  const [chatPath, chatBody] = calls['a chat'];
  const tokens = { prompt_tokens: 7, completion_tokens: 1_300 };

  it('passes a chat with many log probabilities on as it came, and meters it', async () => {
    const choice = { token: 'one', logprob: -0.25, bytes: [111, 110, 101] };
    const content = Array.from({ length: 1_300 }, () => ({ ...choice, top_logprobs: Array(20).fill(choice) }));
    const message = { role: 'assistant', content: 'one'.repeat(1_300) };
    const choices = [{ index: 0, message, logprobs: { content }, finish_reason: 'stop' }];
    const body = JSON.stringify({ id: 'c', object: 'chat.completion', choices, usage: tokens });
    provider.answers(bytes(body, isJson));
    const answer = await post(service, chatPath, { ...chatBody, logprobs: true, top_logprobs: 20 });
    assert.equal(answer.status, 200, answer.text.slice(0, 300));
    assert.ok(answer.text === body);
    assert.deepEqual(service.records[0]?.tokens, { input: 7, output: 1_300 });
  });

  it('passes a transcription with many words on as it came, and meters it', async () => {
    const words = Array.from({ length: 51_000 }, (_, index) => ({ word: 'one', start: index, end: index + 0.5 }));
    const body = JSON.stringify({ task: 'transcribe', text: 'one', words, duration: 51_000.5 });
    provider.answers(bytes(body, isJson));
    const form = new FormData();
    form.append('model', 'hear');
    form.append('file', new Blob([Buffer.from('RIFF')]), 'one.wav');
    form.append('response_format', 'verbose_json');
    const answer = await fetch(`${service.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${goodKey}` },
      body: form,
    });
    assert.ok((await answer.text()) === body);
    assert.equal(service.records[0]?.audioSeconds, 51_000.5);
  });

  it('refuses an answer with many values that is an error, or no JSON', async () => {
    provider.answers(bytes(`{"x":${many},"error":{"message":"no","code":"some_code"}}`, isJson));
    assert.equal((await post(service, chatPath, chatBody)).status, 502);
    provider.answers(bytes(`${chatAnswer(many).slice(0, -1)},]`, isJson));
    assert.equal((await post(service, chatPath, chatBody)).status, 502);
    const names = service.records.map(({ attempts }) => attempts[0]?.errorType);
    assert.deepEqual(names, ['some_code', 'provider_malformed']);
  });

  it('does not store a response with many values, and says so', async () => {
    provider.answers(bytes(responseAnswer(many, 'completed'), isJson));
    const answer = await post(service, '/v1/responses', { model: 'native', input: 'x' });
    assert.equal(answer.status, 200, answer.text.slice(0, 300));
    const { id, store } = answer.json() as { id: string; store: boolean };
    assert.equal(store, false);
    const next = await post(service, '/v1/responses', { model: 'native', input: 'y', previous_response_id: id });
    assert.equal(next.status, 404);
  });

  it('does not store what it refuses', async () => {
    provider.answers(bytes(responseAnswer(deep, 'completed'), isJson));
    await post(service, '/v1/responses', { model: 'native', input: 'x' });
    const next = { model: 'native', input: 'y', previous_response_id: `resp_${'d'.repeat(20)}` };
    assert.equal((await post(service, '/v1/responses', next)).status, 404);
  });

  it('passes embeddings on without counting their values', async () => {
    const body = `{"object":"list","data":[{"embedding":[${'0.5,'.repeat(maxForeignValues)}1]}]}`;
    provider.answers(bytes(body, isJson));
    const answer = await post(service, '/v1/embeddings', { model: 'chat', input: 'x' });
    assert.equal(answer.text, body);
  });

  it('ends a translated stream that never ends', async () => {
    const piece = words('x'.repeat(60_000));
    provider.answers(stream(Array.from({ length: 200 }, () => piece).flat()));
    const answer = await post(service, '/v1/responses', { model: 'chat', input: 'x', stream: true });
    assert.match(answer.text.slice(-1_000), /provider_too_large/);
    assert.ok(answer.text.length < 6 * mebibyte, `${answer.text.length} bytes`);
  });

  it('ends a translated stream with more calls of tools than it keeps', async () => {
    const call = (index: number) =>
      chunk({ tool_calls: [{ index, id: `c${index}`, type: 'function', function: { name: 'f', arguments: '{}' } }] });
    provider.answers(stream([Array.from({ length: 1_500 }, (_, index) => call(index)).join(''), stop, done]));
    const body = { model: 'chat', max_tokens: 5, messages: [{ role: 'user', content: 'x' }], stream: true };
    assert.match((await post(service, '/v1/messages', body)).text, /more than the gateway accepts/);
  });

  describe('with 512 KB of tools in a streamed request', () => {
    const tools = Array.from({ length: 8 }, (_, index) => ({
      type: 'function',
      name: `tool_${index}`,
      description: 'é'.repeat(32_000),
      parameters: { type: 'object', properties: {} },
    }));
    const request = { input: 'x', instructions: 'Be brief.', tools, stream: true };

    it('passes the translated response on', async () => {
      provider.answers(stream([...words('hello'), stop, done]));
      const answer = await post(service, '/v1/responses', { ...request, model: 'chat' });
      assert.equal(answer.status, 200, answer.text.slice(0, 300));
      assert.match(answer.text, /response\.completed/);
    });

    it('passes the response of a provider on that repeats them with escapes', async () => {
      const escaped = JSON.stringify(tools).replaceAll('é', '\\u00e9');
      const response = (status: string) =>
        `{"id":"resp_${'e'.repeat(20)}","object":"response","status":"${status}","output":[],"tools":${escaped}}`;
      const event = (type: string, rest: string) => `event: ${type}\ndata: {"type":"${type}",${rest}}\n\n`;
      provider.answers(
        stream([
          event('response.created', `"response":${response('in_progress')}`),
          event('response.in_progress', `"response":${response('in_progress')}`),
          event('response.output_text.delta', '"delta":"hello"'),
          event('response.completed', `"response":${response('completed')}`),
        ]),
      );
      const answer = await post(service, '/v1/responses', { ...request, model: 'native' });
      assert.equal(answer.status, 200, answer.text.slice(0, 300));
      assert.match(answer.text, /"type":"response\.completed"/);
    });
  });
});
