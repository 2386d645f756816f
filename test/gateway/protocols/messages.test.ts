import assert from 'node:assert/strict';
import { chunk, completion, error, type FakeProvider, json, stream } from '#test/gateway/support/fake-provider.ts';
import { gatewayOfTwo } from '#test/gateway/support/gateway-of-two.ts';
import { type GatewayService, post } from '#test/gateway/support/gateway-service.ts';
import { eventsOf } from '#test/gateway/support/strict-messages.ts';
import { chatSamples } from '#test/gateway/text-protocols/chat-samples.ts';
import { describeTextProtocol } from '#test/gateway/text-protocols/describe-text-protocol.ts';
import { anthropicMessage, messagesSamples } from '#test/gateway/text-protocols/messages-samples.ts';
import { goodKey } from '#test/http/support/fake-service.ts';

const path = '/v1/messages';
const ask = { max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] };
const _usage = { input_tokens: 3, output_tokens: 4 };

/** The events of a stream that says a text in two pieces. */
const speaking = (text: string) => eventsOf(anthropicMessage(text));
/** The calls of custom tools in a stream of chunks, put together. */
function streamedCalls(text: string): ReadonlyArray<object> {
  const calls: { id: string; type: string; custom: { name: string; input: string } }[] = [];
  for (const [, part = ''] of text.matchAll(/^data: (\{.*)$/gm)) {
    const { choices } = JSON.parse(part) as {
      choices: ReadonlyArray<{ delta: { tool_calls?: ReadonlyArray<never> } }>;
    };
    for (const { index, ...call } of (choices[0]?.delta.tool_calls ?? []) as ReadonlyArray<Record<string, never>>) {
      const known = calls[index ?? 0];
      if (known === undefined) calls.push(call as never);
      else known.custom.input += (call.custom as unknown as { input: string }).input;
    }
  }
  return calls;
}

describeTextProtocol(messagesSamples, chatSamples);

describe('Messages', () => {
  const given = gatewayOfTwo({
    primary: json(anthropicMessage('from Anthropic')),
    backup: json(completion('from OpenAI')),
    configurationOf: ([anthropic, openai], model) => {
      const own = { provider: 'anthropic', model: 'claude-x' };
      const other = { provider: 'openai', model: 'gpt-x' };
      return {
        providers: {
          anthropic: { kind: 'anthropic', baseUrl: anthropic.baseUrl, apiKeyEnv: 'PROVIDER_KEY' },
          openai: { kind: 'openai-compatible', baseUrl: openai.baseUrl },
        },
        models: {
          native: { targets: [own], fallbacks: [{ ...other, prefill: true }], ...model },
          foreign: { targets: [other], fallbacks: [{ ...own, prefill: true }], ...model },
          alone: { targets: [other], ...model },
        },
      };
    },
  });
  const { configuration } = given;
  let anthropic: FakeProvider;
  let openai: FakeProvider;
  let service: GatewayService;

  beforeEach(() => {
    ({ primary: anthropic, backup: openai, service } = given);
  });

  const send = async (body: unknown, { headers = {}, query = '' }: { headers?: object; query?: string } = {}) => {
    const answer = await fetch(service.url + path + query, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': goodKey, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, body: () => JSON.parse(text) };
  };
  const sentTo = (provider: FakeProvider) => JSON.parse(provider.seen.at(-1)?.body.toString() ?? '{}');

  describe('to a target of the same protocol', () => {
    it('get the version that takes every parameter where the client names none', async () => {
      await send({ model: 'native', ...ask });
      assert.equal(anthropic.seen[0]?.headers['anthropic-version'], '2023-06-01');
    });

    it('count cached tokens as input, with a price of their own', async () => {
      const price = { inputPerMillion: 10, outputPerMillion: 50, cachedInputPerMillion: 1, cacheWritePerMillion: 12.5 };
      service.configure(configuration({ price }));
      const cached = {
        input_tokens: 100,
        cache_read_input_tokens: 1_000,
        cache_creation_input_tokens: 10,
        output_tokens: 2,
      };
      anthropic.answers(json(anthropicMessage('x', { usage: cached })));
      await send({ model: 'native', ...ask });
      const { tokens, cost } = service.records[0] ?? assert.fail('there is no record');
      assert.deepEqual(tokens, { input: 1_110, output: 2, cachedInput: 1_000, cacheWrite: 10 });
      assert.equal(cost, (100 * 10 + 1_000 * 1 + 10 * 12.5 + 2 * 50) / 1_000_000);
    });

    it('count what is kept for an hour with its own price, whole and streamed', async () => {
      const price = {
        inputPerMillion: 10,
        outputPerMillion: 50,
        cacheWritePerMillion: 12.5,
        cacheWriteHourPerMillion: 20,
      };
      service.configure(configuration({ price }));
      const usage = {
        input_tokens: 100,
        output_tokens: 2,
        cache_creation_input_tokens: 10,
        cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 6 },
      };
      const [start, ...rest] = speaking('x');
      const begun = String(start).replace(/"usage":\{[^}]*\}/, `"usage":${JSON.stringify(usage)}`);
      for (const [isStreamed, reply] of [
        [false, json(anthropicMessage('x', { usage }))],
        [true, stream([begun, ...rest])],
      ] as const) {
        anthropic.answers(reply);
        await send({ model: 'native', stream: isStreamed, ...ask });
      }
      const [whole, streamed] = service.records;
      assert.equal(whole?.cost, (100 * 10 + 4 * 12.5 + 6 * 20 + 2 * 50) / 1_000_000);
      assert.equal(streamed?.tokens?.cacheWriteHour, 6);
      assert.equal(streamed?.cost, (100 * 10 + 4 * 12.5 + 6 * 20 + Number(streamed?.tokens?.output) * 50) / 1_000_000);
    });
  });

  describe('to a target of chats', () => {
    it('name what the target does not get', async () => {
      const answer = await send(
        {
          model: 'foreign',
          ...ask,
          system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
          metadata: { user_id: 'u' },
          top_k: 5,
          thinking: { type: 'enabled', budget_tokens: 2_000 },
          tools: [{ type: 'web_search_20250305', name: 'web_search' }],
        },
        { headers: { 'anthropic-beta': 'a' } },
      );
      assert.equal(
        answer.headers.get('x-switchyard-ignored'),
        '/metadata, /tools/*, /system/*/cache_control, /top_k, /thinking, anthropic-beta',
      );
      const { messages: sent, max_tokens: limit, ...others } = sentTo(openai);
      assert.deepEqual(sent, [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hi' },
      ]);
      assert.deepEqual([limit, others], [100, { model: 'gpt-x' }]);
    });

    it('are refused with the place of what would be left out, if the client prefers strict handling', async () => {
      const answer = await send({ model: 'alone', ...ask, top_k: 5 }, { headers: { prefer: 'handling=strict' } });
      assert.equal(answer.status, 400);
      assert.match(answer.body().error.message, /\/top_k/);
      assert.equal(openai.seen.length, 0);
    });

    it('are refused before any call if no target can express them', async () => {
      const content = [{ type: 'search_result', source: 'x', title: 'y', content: [] }];
      const answer = await send({ model: 'alone', max_tokens: 5, messages: [{ role: 'user', content }] });
      assert.equal(answer.status, 400);
      assert.equal(answer.body().error.type, 'invalid_request_error');
      assert.match(answer.body().error.message, /\/messages\/0\/content\/0: a block of the type "search_result"/);
      assert.equal(openai.seen.length, 0);
    });

    it('go to the targets that can express them', async () => {
      const content = [{ type: 'search_result', source: 'x', title: 'y', content: [] }];
      const answer = await send({ model: 'foreign', max_tokens: 5, messages: [{ role: 'user', content }] });
      assert.equal(answer.body().content[0].text, 'from Anthropic');
      assert.deepEqual([openai.seen.length, anthropic.seen.length], [0, 1]);
    });

    it('move arguments and schemas of tools byte for byte', async () => {
      const schema = '{"type":"object", "properties":{"n":{"const":1.0}}}';
      const input = '{"n":1.0, "big":12345678901234567890}';
      await send(
        `{"model":"foreign","max_tokens":5,"tools":[{"name":"t","input_schema":${schema}}],"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":${input}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"}]}]}`,
      );
      const sent = openai.seen[0]?.body.toString() ?? '';
      assert.ok(sent.includes(`"parameters":${schema}`), sent);
      assert.equal(JSON.parse(sent).messages[1].tool_calls[0].function.arguments, input);
    });

    it('say which tools a search of the client has found', async () => {
      const found = ['mcp__hours__open', 'mcp__hours__close'];
      const tools = found.map((name) => ({ name, input_schema: { type: 'object' }, defer_loading: true }));
      const search = { type: 'tool_use', id: 'a', name: 'ToolSearch', input: { query: 'hours' } };
      const content = found.map((name) => ({ type: 'tool_reference', tool_name: name }));
      const messages = [
        ...ask.messages,
        { role: 'assistant', content: [search] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content }] },
      ];
      const answer = await send({ model: 'alone', max_tokens: 5, tools, messages });
      assert.equal(answer.status, 200, answer.text);
      const sent = sentTo(openai);
      assert.equal(
        sent.messages.at(-1).content,
        'Found the tool mcp__hours__open.\nFound the tool mcp__hours__close.\n',
      );
      assert.deepEqual(
        sent.tools.map((tool: { function: { name: string } }) => tool.function.name),
        found,
      );
    });

    it('turn an error of the provider into Anthropic’s form', async () => {
      openai.answers(error(400, 'bad', {}, 'It is too odd.'));
      const answer = await send({ model: 'alone', ...ask });
      assert.equal(answer.status, 400);
      const { type, error: reported, request_id: requestId } = answer.body();
      assert.deepEqual([type, reported], ['error', { type: 'invalid_request_error', message: 'It is too odd.' }]);
      assert.equal(requestId, answer.headers.get('request-id'));
    });

    it('never fetch an address, and pass that of an image on', async () => {
      const url = `${openai.baseUrl}/picture.png`;
      const content = [{ type: 'image', source: { type: 'url', url } }];
      await send({ model: 'foreign', max_tokens: 5, messages: [{ role: 'user', content }] });
      assert.deepEqual(sentTo(openai).messages[0].content, [{ type: 'image_url', image_url: { url } }]);
      assert.equal(openai.seen.length, 1);
      const document = [{ type: 'document', source: { type: 'url', url } }];
      const refused = await send({ model: 'alone', max_tokens: 5, messages: [{ role: 'user', content: document }] });
      assert.match(refused.body().error.message, /\/messages\/0\/content\/0: this target takes a document in Base64/);
    });
  });

  describe('with what lives at a provider', () => {
    const file = { type: 'file', file_id: 'file_1' };
    const cases: ReadonlyArray<readonly [string, object, string]> = [
      ['a container', { container: 'container_1' }, '/container'],
      [
        'a document',
        { messages: [{ role: 'user', content: [{ type: 'document', source: file }] }] },
        '/messages/0/content/0/source/file_id',
      ],
      [
        'an image',
        { messages: [{ role: 'user', content: [{ type: 'image', source: file }] }] },
        '/messages/0/content/0/source/file_id',
      ],
      [
        'an upload',
        { messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: 'f' }] }] },
        '/messages/0/content/0/file_id',
      ],
      [
        'an image in the result of a tool',
        {
          messages: [
            {
              role: 'user',
              content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'image', source: file }] }],
            },
          ],
        },
        '/messages/0/content/0/content/0/source/file_id',
      ],
    ];
    for (const [what, members, pointer] of cases)
      it(`are 404 before any call, and say what to send instead: ${what}`, async () => {
        const answer = await send({ model: 'native', ...ask, ...members });
        assert.equal(answer.status, 404);
        assert.equal(answer.body().error.type, 'not_found_error');
        assert.ok(answer.body().error.message.startsWith(`${pointer} names a`), answer.text);
        assert.equal(anthropic.seen.length, 0);
      });

    it('are not hidden behind very many blocks', async () => {
      const thinking = { type: 'thinking', thinking: '', signature: 'x' };
      const blocks = [...Array.from({ length: 100_001 }, () => thinking), { type: 'image', source: file }];
      const answer = await send({ model: 'native', max_tokens: 5, messages: [{ role: 'user', content: blocks }] });
      assert.equal(answer.status, 404);
      assert.equal(anthropic.seen.length, 0);
    });

    it('are 404 in `system`, by an escaped name, and when tokens are counted', async () => {
      const body = JSON.stringify({ model: 'native', ...ask, system: [{ type: 'document', source: file }] });
      for (const query of ['', '/count_tokens']) {
        const answer = await send(body.replace('file_id', 'file_\\u0069d'), { query });
        assert.equal(answer.status, 404, answer.text);
        assert.ok(answer.body().error.message.startsWith('/system/0/source/file_id names a file'), answer.text);
      }
      assert.equal(anthropic.seen.length, 0);
    });

    it('are too many files beyond a thousand', async () => {
      const content = Array.from({ length: 1_001 }, () => ({ type: 'document', source: file }));
      const answer = await send({ model: 'native', max_tokens: 5, messages: [{ role: 'user', content }] });
      assert.deepEqual([answer.status, answer.body().error.type], [400, 'invalid_request_error']);
      assert.match(answer.body().error.message, /^\/messages\/0\/content\/1000\/source\/file_id is beyond the limit/);
    });

    it('do not take the arguments of a tool for an id', async () => {
      const content = [{ type: 'tool_use', id: 'a', name: 't', input: { file_id: 'x', source: { file_id: 'y' } } }];
      const answer = await send({ model: 'native', max_tokens: 5, messages: [{ role: 'assistant', content }] });
      assert.equal(answer.status, 200);
    });
  });

  describe('errors', () => {
    it('say which variable to unset when two different keys come', async () => {
      const answer = await send({ model: 'native', ...ask }, { headers: { authorization: 'Bearer other' } });
      assert.equal(answer.status, 401);
      assert.match(answer.body().error.message, /ANTHROPIC_API_KEY.*ANTHROPIC_AUTH_TOKEN/);
      const same = await send({ model: 'native', ...ask }, { headers: { authorization: `Bearer ${goodKey}` } });
      assert.equal(same.status, 200);
    });

    it('of overload are Anthropic’s', async () => {
      service.configure(configuration({ retries: 0, fallbacks: [] }));
      anthropic.answers(json({ type: 'error', error: { type: 'overloaded_error', message: 'x' } }, 529));
      const answer = await send({ model: 'native', ...ask });
      assert.deepEqual([answer.status, answer.body().error.type], [503, 'overloaded_error']);
    });
  });

  it('with reasoning of another protocol are written again for Anthropic, without that reasoning', async () => {
    const content = [
      { type: 'thinking', thinking: 'hm', signature: '' },
      { type: 'text', text: 'So' },
    ];
    await send({
      model: 'native',
      max_tokens: 5,
      messages: [...ask.messages, { role: 'assistant', content }, ...ask.messages],
    });
    assert.deepEqual(sentTo(anthropic).messages[1].content, [{ type: 'text', text: 'So' }]);
  });

  it('with reasoning of another protocol keep their marks for the cache', async () => {
    const marked = (said: string) => ({ type: 'text', text: said, cache_control: { type: 'ephemeral', ttl: '1h' } });
    const thinking = { type: 'thinking', thinking: 'hm', signature: '' };
    const tool = { name: 't', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral', ttl: '1h' } };
    const body = {
      max_tokens: 5,
      system: [marked('Be brief.')],
      messages: [...ask.messages, { role: 'assistant', content: [thinking, marked('So')] }, ...ask.messages],
      tools: [tool],
      cache_control: { type: 'ephemeral' },
    };
    await send({ model: 'native', ...body });
    const sent = sentTo(anthropic);
    assert.deepEqual(
      [sent.system, sent.cache_control, sent.tools[0].cache_control],
      [body.system, body.cache_control, tool.cache_control],
    );
    assert.deepEqual(sent.messages[1].content, [marked('So')]);
  });

  for (const way of ['whole', 'streamed'] as const)
    it(`bring a call of a free text back to a client of chats as it declared the tool, ${way}`, async () => {
      const content = [{ type: 'tool_use', id: 'toolu_1', name: 'shell', input: { input: 'ls "x"\n' } }];
      const called = anthropicMessage('', { content, stop_reason: 'tool_use' });
      anthropic.answers(way === 'whole' ? json(called) : stream(eventsOf(called)));
      const chats = '/v1/chat/completions';
      const tools = [{ type: 'custom' as const, custom: { name: 'shell', description: 'Runs a line' } }];
      const asked = { model: 'native', messages: [{ role: 'user' as const, content: 'hi' }], tools };
      const answer = await post(service, chats, { ...asked, stream: way === 'streamed' });
      const call = { id: 'toolu_1', type: 'custom', custom: { name: 'shell', input: 'ls "x"\n' } };
      const got = way === 'whole' ? JSON.parse(answer.text).choices[0].message.tool_calls : streamedCalls(answer.text);
      assert.deepEqual(got, [call]);
      assert.deepEqual(sentTo(anthropic).tools[0].input_schema.required, ['input']);
      anthropic.answers(json(anthropicMessage('Done')));
      const again = [...asked.messages, { role: 'assistant' as const, tool_calls: [call] }];
      await post(service, chats, {
        ...asked,
        messages: [...again, { role: 'tool', tool_call_id: 'toolu_1', content: 'x' }],
      });
      assert.deepEqual(sentTo(anthropic).messages[1].content[0].input, { input: 'ls "x"\n' });
    });

  it('come as chunks for a client of chats, with the usage that it asked for', async () => {
    anthropic.answers(stream(speaking('Hello')));
    const answer = await fetch(`${service.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': goodKey },
      body: JSON.stringify({
        ...{ model: 'native', stream: true, stream_options: { include_usage: true } },
        messages: [{ role: 'user', content: 'hi' }],
      }),
    });
    const events = (await answer.text()).split('\n\n').filter((event) => event !== '');
    assert.equal(events.at(-1), 'data: [DONE]');
    const last = JSON.parse((events.at(-2) ?? '').slice('data: '.length));
    assert.deepEqual([last.choices, last.usage], [[], { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 }]);
    assert.equal(sentTo(anthropic).max_tokens, 4_096);
    assert.ok(!JSON.stringify(chunk({})).includes('undefined'));
  });
});
