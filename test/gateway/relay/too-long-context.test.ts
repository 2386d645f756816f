import assert from 'node:assert/strict';
import { type Behaviour, bytes, FakeProvider, json, role, stream, words } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, post, startGateway } from '#test/gateway/support/gateway-service.ts';
import { tooLongTexts } from '#test/gateway/support/too-long-texts.ts';

const anthropics = 'prompt is too long: 210000 tokens > 200000 maximum';
const openAis = 'Your input exceeds the context window of this model.';
const tokensOfAnswer =
  'input length and `max_tokens` exceed context limit: 199000 + 8000 > 200000, decrease input length or `max_tokens` and try again';
const code = 'context_length_exceeded';

const anthropicError = (message: string) => ({ type: 'error', error: { type: 'invalid_request_error', message } });
const withBytes = (body: string): Behaviour => bytes(body, { 'content-type': 'application/json' }, 400);

describe('a request that is too long for the context of its model', () => {
  let provider: FakeProvider;
  let service: GatewayService;

  before(async () => {
    provider = await FakeProvider.start();
    const { baseUrl } = provider;
    service = await startGateway({
      providers: {
        chat: { kind: 'openai-compatible', baseUrl },
        responses: { kind: 'openai-compatible', baseUrl, responses: true },
        anthropic: { kind: 'anthropic', baseUrl },
      },
      models: Object.fromEntries(
        ['chat', 'responses', 'anthropic'].map((name) => [
          name,
          { targets: [{ provider: name, model: 'm' }], retries: 0 },
        ]),
      ),
    });
  });
  after(async () => {
    await service.stop();
    await provider.stop();
  });

  const messages = [{ role: 'user', content: 'hi' }];
  const clients = {
    chat: (model: string, more = {}) => post(service, '/v1/chat/completions', { model, messages, ...more }),
    responses: (model: string, more = {}) =>
      post(service, '/v1/responses', { model, input: 'hi', store: false, ...more }),
    messages: (model: string, more = {}) => post(service, '/v1/messages', { model, messages, max_tokens: 9, ...more }),
  };

  for (const client of ['chat', 'responses'] as const)
    for (const model of ['chat', 'responses', 'anthropic'])
      for (const isStreamed of [false, true])
        it(`has the code that clients look for: ${client} on ${model}, ${isStreamed ? 'streamed' : 'whole'}`, async () => {
          provider.answers(
            json(model === 'anthropic' ? anthropicError(anthropics) : { error: { message: openAis } }, 400),
          );
          const { status, json: read } = await clients[client](model, { stream: isStreamed });
          const { error } = read() as { error: { code: string; message: string } };
          assert.deepEqual([status, error.code], [400, code]);
          assert.equal(error.message, model === 'anthropic' ? anthropics : openAis);
        });

  for (const [body, expected] of [
    [
      `{ "error":{"message":"caf\\u00e9: ${openAis}","param" : null, "code": null,"odd":1.0},"also":[ ] }`,
      `{ "error":{"message":"caf\\u00e9: ${openAis}","param" : null, "code": "${code}","odd":1.0},"also":[ ] }`,
    ],
    [`{"error" : { "message":"${openAis}"}}`, `{"error" : {"code":"${code}", "message":"${openAis}"}}`],
    [
      `{"error": { "message":"${openAis}","param":"","code" : ""}}`,
      `{"error": { "message":"${openAis}","param":"","code" : "${code}"}}`,
    ],
  ] as const)
    it(`changes nothing but the code: ${body.slice(0, 40)}`, async () => {
      provider.answers(withBytes(body));
      for (const client of ['chat', 'responses'] as const)
        assert.equal((await clients[client]('responses')).text, expected);
    });

  for (const body of [
    `{"error": {"message":"${openAis}","code":"string_above_max_length"} }`,
    `{"error": {"message":"${openAis}","code":400,"type":"exceed_context_size_error"} }`,
    `{"error": {"message":"No such tool.","code":null} }`,
  ])
    it(`leaves a body as it is with a code, or with another text: ${body.slice(0, 40)}`, async () => {
      provider.answers(withBytes(body));
      assert.equal((await clients.chat('chat')).text, body);
    });

  it('replaces a number on Responses, where codes are texts', async () => {
    const body = `{"error": {"code" : 400,"message":"${openAis}","type":"exceed_context_size_error"} }`;
    provider.answers(withBytes(body));
    for (const model of ['chat', 'responses'])
      assert.equal((await clients.responses(model)).text, body.replace('400', `"${code}"`));
  });

  for (const [name, sent] of [
    ['a text', bytes('Input is too long for requested model.', { 'content-type': 'text/plain' }, 400)],
    ['only a message', json({ message: 'Input is too long for requested model.' }, 400)],
    ['a list', json([{ error: { code: 400, message: openAis, status: 'INVALID_ARGUMENT' } }], 400)],
    ['a text as its error', json({ error: 'prompt too long; exceeded max context length by 4 tokens' }, 400)],
    ['a number as its code', json({ object: 'error', message: openAis, type: 'BadRequestError', code: 400 }, 400)],
    ['status 500', json({ error: { message: openAis, type: 'server_error', code: 500 } }, 500)],
    [
      'a detail of status 500',
      json({ detail: 'The decoder prompt (length 2061) is longer than the maximum model length of 2048.' }, 500),
    ],
    ['status 413', json({ error: { message: openAis } }, 413)],
  ] as const)
    it(`is known in a refusal that is no error of OpenAI: ${name}`, async () => {
      provider.answers(sent);
      const { error } = (await clients.chat('chat')).json() as { error: { code: string; message: string } };
      assert.equal(error.code, code);
      assert.match(error.message, /^(?:Input is too long|Your input|prompt too long|The decoder prompt)/);
    });

  it('is known in what OpenRouter says that another provider said', async () => {
    const raw = JSON.stringify({ error: { message: openAis } });
    const said = { error: { message: 'Provider returned error', code: 400, metadata: { raw, provider_name: 'x' } } };
    for (const behaviour of [json(said, 400), json(said), stream([`data: ${JSON.stringify(said)}\n\n`])]) {
      provider.answers(behaviour);
      const { error } = (await clients.responses('chat', { stream: true })).json() as { error: { code: string } };
      assert.equal(error.code, code);
      const ofMessages = (await clients.messages('chat', { stream: true })).text;
      assert.match(ofMessages, /"message":"prompt is too long: Provider returned error: /);
    }
  });

  for (const [model, sent] of [
    ['chat', { error: { message: openAis, type: 'invalid_request_error', code } }],
    ['anthropic', anthropicError(openAis)],
    ['anthropic', { error: { message: openAis, type: 'invalid_request_error', code: 'invalid_request_error' } }],
  ] as const)
    it(`begins with the words that Claude Code looks for, on ${model}: ${JSON.stringify(sent).slice(0, 50)}`, async () => {
      provider.answers(json(sent, 400));
      for (const stream of [false, true]) {
        const answer = await clients.messages(model, { stream });
        const { error } = answer.json() as { error: { type: string; message: string } };
        assert.equal(answer.status, 400);
        assert.deepEqual(error, { type: 'invalid_request_error', message: `prompt is too long: ${openAis}` });
      }
    });

  for (const message of ['Prompt is too long', 'The prompt is too long: 140000, model maximum context length: 131071'])
    it(`begins with them although it has nearly the same: ${message.slice(0, 30)}`, async () => {
      for (const [model, sent] of [
        ['anthropic', anthropicError(message)],
        ['chat', { error: { message } }],
      ] as const) {
        provider.answers(json(sent, 400));
        const { error } = (await clients.messages(model)).json() as { error: { message: string } };
        assert.equal(error.message, `prompt is too long: ${message}`);
      }
    });

  it('has status 400 where the gateway writes it, because Claude Code takes 413 for too large a body', async () => {
    for (const sent of [
      json({ error: { message: openAis } }, 413),
      bytes(openAis, { 'content-type': 'text/plain' }, 413),
    ]) {
      provider.answers(sent);
      for (const stream of [false, true]) {
        const answer = await clients.messages('chat', { stream });
        const { error } = answer.json() as { error: { type: string } };
        assert.deepEqual([answer.status, error.type], [400, 'invalid_request_error']);
      }
    }
  });

  for (const message of [anthropics, tokensOfAnswer])
    it(`keeps each byte of Anthropic’s own refusal on Messages: ${message.slice(0, 40)}`, async () => {
      const body = JSON.stringify(anthropicError(message), null, 1);
      provider.answers(withBytes(body));
      assert.equal((await clients.messages('anthropic')).text, body);
    });

  it('changes only the text of a refusal that Anthropic’s clients do not know', async () => {
    const body = `{ "type":"error","error":{ "type":"invalid_request_error", "message" : "caf\\u00e9 ${openAis}"} }`;
    provider.answers(withBytes(body));
    assert.equal((await clients.messages('anthropic')).text, body.replace('"caf', '"prompt is too long: caf'));
  });

  describe('is said inside of an answer of status 200', () => {
    const anthropicEvent = `event: error\ndata: ${JSON.stringify(anthropicError(anthropics))}\n\n`;
    const chatEvent = `data: ${JSON.stringify({ error: { message: openAis, code: null } })}\n\n`;
    const failed = `event: response.failed\ndata: ${JSON.stringify({
      type: 'response.failed',
      sequence_number: 1,
      response: { id: 'resp_1', status: 'failed', error: { code: null, message: openAis } },
    })}\n\n`;
    const started = [
      { type: 'message_start', message: { id: 'msg_1', model: 'm', usage: { input_tokens: 1, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Once' } },
    ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

    for (const [model, event] of [
      ['chat', chatEvent],
      ['responses', failed],
      ['anthropic', anthropicEvent],
    ] as const)
      it(`before the content: ${model}`, async () => {
        provider.answers(stream([event]));
        const ofChat = (await clients.chat(model === 'responses' ? 'chat' : model, { stream: true })).status;
        const answer = await clients.responses(model, { stream: true });
        const { error } = answer.json() as { error: { code: string } };
        assert.deepEqual([answer.status, error.code], [400, code]);
        if (model !== 'responses') assert.equal(ofChat, 400);
      });

    it('in a body', async () => {
      provider.answers(json({ error: { message: openAis, code: null } }));
      for (const client of ['chat', 'responses'] as const) {
        const answer = await clients[client]('chat');
        assert.deepEqual([answer.status, (answer.json() as { error: { code: string } }).error.code], [400, code]);
      }
      const { error } = (await clients.messages('chat')).json() as { error: { message: string } };
      assert.equal(error.message, `prompt is too long: ${openAis}`);
    });

    for (const [model, pieces] of [
      ['chat', [role, ...words('Once'), chatEvent]],
      ['anthropic', [...started, anthropicEvent]],
    ] as const)
      it(`after content: ${model}`, async () => {
        provider.answers(stream(pieces, { gapMs: 30 }));
        const [chat, responses, onMessages] = [
          await clients.chat(model, { stream: true }),
          await clients.responses(model, { stream: true }),
          await clients.messages(model, { stream: true }),
        ];
        for (const { text } of [chat, responses]) {
          assert.match(text, /Once/);
          assert.match(text, /"code":"context_length_exceeded"/);
        }
        const last = onMessages.text.trim().split('\n\n').at(-1) ?? '';
        assert.match(last, /^event: error\n.*"type":"invalid_request_error","message":"prompt is too long: /);
      });
  });

  it('is known in what each provider says', async () => {
    for (const [name, message] of tooLongTexts) {
      provider.answers(json({ error: { message, type: 'invalid_request_error', param: null, code: null } }, 400));
      const { error } = (await clients.chat('chat')).json() as { error: { code: string; message: string } };
      assert.deepEqual(error, { message, type: 'invalid_request_error', param: null, code }, name);
    }
  });
});
