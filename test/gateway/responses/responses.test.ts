import assert from 'node:assert/strict';
import type { Caller } from '#domain/shared/access.ts';
import { Admission } from '#exchange/admission.ts';
import { signatureTextOf } from '#gateway/protocols/signature-text.ts';
import {
  type Behaviour,
  bytes,
  chunk,
  completion,
  done,
  error,
  type FakeProvider,
  json,
  role,
  saying,
  stop,
  stream,
  words,
} from '#test/gateway/support/fake-provider.ts';
import { gatewayOfTwo } from '#test/gateway/support/gateway-of-two.ts';
import type { GatewayService, GatewayServiceOptions } from '#test/gateway/support/gateway-service.ts';
import { eventsOfResponse, openAiResponse, outputMessage } from '#test/gateway/support/strict-responses.ts';
import { chatSamples } from '#test/gateway/text-protocols/chat-samples.ts';
import { describeTextProtocol } from '#test/gateway/text-protocols/describe-text-protocol.ts';
import { responsesSamples, textOfResponse } from '#test/gateway/text-protocols/responses-samples.ts';
import { goodKey, caller as someCaller } from '#test/http/support/fake-service.ts';
import { inMemoryResponses } from '#test/support/fakes/in-memory-response-store.ts';
import { neverReasons, sourceOfEvent } from './events-of-the-reference.ts';

const path = '/v1/responses';

/** A stored or streamed response, as far as the tests read it. */
interface Read {
  readonly id: string;
  readonly status: string;
  readonly store: boolean;
  readonly previous_response_id: string | null;
  readonly error?: { readonly code: string; readonly message: string } | null;
  readonly output: ReadonlyArray<{
    readonly id: string;
    readonly type: string;
    readonly content?: ReadonlyArray<{ readonly text: string }>;
  }>;
}

interface StreamEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly response?: Read;
  readonly [member: string]: unknown;
}

function eventsIn(body: string): ReadonlyArray<StreamEvent> {
  return body.split('\n\n').flatMap((frame) => {
    const [, name, data] = /^event: (\S+)\ndata: (.*)$/s.exec(frame) ?? [];
    if (name === undefined || data === undefined) return [];
    const event: StreamEvent = JSON.parse(data);
    assert.equal(event.type, name, 'the name of an event is its type');
    return [event];
  });
}

/** An opaque part of reasoning that no target of these tests has made. */
const signed = { of: 'elsewhere', value: 'secret', isRedacted: false };

const saidBy = (text: string) => openAiResponse([outputMessage(text)]);

describeTextProtocol(responsesSamples, chatSamples);

describe('Responses', () => {
  const given = gatewayOfTwo({
    primary: (res, seen) => json(saidBy('from OpenAI'))(res, seen),
    backup: json(completion('from the other')),
    configurationOf: ([openai, other], model, provider) => {
      const own = { provider: 'openai', model: 'gpt-x' };
      const chat = { provider: 'other', model: 'gpt-y' };
      return {
        providers: {
          openai: { kind: 'openai-compatible', baseUrl: openai.baseUrl, responses: true, ...provider },
          other: { kind: 'openai-compatible', baseUrl: other.baseUrl },
        },
        models: {
          native: { targets: [own], fallbacks: [chat], ...model },
          thinking: { targets: [{ ...own, reasoning: true }], ...model },
          foreign: { targets: [chat], fallbacks: [own], ...model },
          alone: { targets: [chat], ...model },
        },
      };
    },
  });
  const { configuration } = given;
  let openai: FakeProvider;
  let other: FakeProvider;
  let service: GatewayService;

  beforeEach(() => {
    ({ primary: openai, backup: other, service } = given);
  });

  const restart = async (options: GatewayServiceOptions, provider: object = {}) => {
    service = await given.restart(configuration({}, provider), options);
  };

  const call = async (method: string, under: string, body?: unknown, headers: object = {}) => {
    const answer = await fetch(service.url + path + under, {
      method,
      headers: { 'content-type': 'application/json', 'x-api-key': goodKey, ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, body: () => JSON.parse(text) };
  };
  const send = (body: unknown, headers: object = {}) => call('POST', '', body, headers);
  const create = async (body: object): Promise<Read> => {
    const answer = await send(body);
    assert.equal(answer.status, 200, answer.text);
    return answer.body();
  };
  const sentTo = (provider: FakeProvider) => JSON.parse(provider.seen.at(-1)?.body.toString() ?? '{}');
  const typesSentTo = (provider: FakeProvider) =>
    sentTo(provider).input.map(({ type = 'message' }: { type?: string }) => type);

  describe('to a target of the same protocol', () => {
    it('pass byte for byte but for the model, if nothing is stored', async () => {
      const answered = '{"id":"resp_1",  "output":[],"odd":1.50,"store":false,"status":"completed"}';
      openai.answers(bytes(answered, { 'content-type': 'application/json' }));
      const body = '{ "model" : "thinking","store":false,"odd":1.0,"input":"Gr\\u00fc\\u00df" }';
      const answer = await send(body);
      assert.equal(answer.text, answered);
      assert.equal(openai.seen.at(-1)?.body.toString(), body.replace('"thinking"', '"gpt-x"'));
      assert.equal(openai.seen.at(-1)?.path, '/v1/responses');
    });

    it('are stored here and not at the provider, and say so', async () => {
      const body = '{"model":"native", "input":"hi","odd":1.0}';
      const answered = await send(body);
      assert.equal(openai.seen.at(-1)?.body.toString(), '{"store":false,"model":"gpt-x", "input":"hi","odd":1.0}');
      assert.deepEqual([answered.body().store, answered.body().previous_response_id], [true, null]);
    });

    it('ask for the opaque part of reasoning, of a model that reasons', async () => {
      await create({ model: 'thinking', input: 'hi' });
      assert.deepEqual(sentTo(openai).include, ['reasoning.encrypted_content']);
      await create({ model: 'thinking', input: 'hi', include: ['file_search_call.results'] });
      assert.deepEqual(sentTo(openai).include, ['file_search_call.results', 'reasoning.encrypted_content']);
      await create({ model: 'thinking', input: 'hi', include: ['reasoning.encrypted_content'] });
      assert.deepEqual(sentTo(openai).include, ['reasoning.encrypted_content']);
      await create({ model: 'native', input: 'hi' });
      assert.equal(sentTo(openai).include, undefined);
    });

    it('say in each event of a stream how they are stored, and nothing else is changed', async () => {
      const first = await create({ model: 'native', input: 'hi' });
      const events = eventsOfResponse(saidBy('two pieces'));
      openai.answers(stream(events));
      const answer = await send({ model: 'native', stream: true, input: 'more', previous_response_id: first.id });
      const expected = events
        .join('')
        .replaceAll('"previous_response_id":null', `"previous_response_id":"${first.id}"`)
        .replaceAll('"store":false', '"store":true');
      assert.equal(answer.text, expected);
    });

    it('lose the tools that the target does not run, and the answer names them', async () => {
      const tools = [
        { type: 'web_search' },
        { type: 'function', name: 'f', parameters: { n: 1 }, strict: false },
        { type: 'file_search' },
        { type: 'custom', name: 'c' },
        { type: 'mcp', server_label: 'x' },
      ];
      const answer = await send({ model: 'native', store: false, input: 'hi', tools });
      assert.deepEqual(sentTo(openai).tools, [tools[1], tools[3]]);
      assert.equal(answer.headers.get('x-switchyard-ignored'), '/tools/*');
      for (const some of [[tools[0]], [tools[0], tools[2]], [tools[1], tools[0]], [tools[0], tools[2], tools[1]]]) {
        await send({ model: 'native', store: false, input: 'hi', tools: some });
        assert.deepEqual(sentTo(openai).tools, some.includes(tools[1]) ? [tools[1]] : []);
      }
      const strict = await send({ model: 'native', input: 'hi', tools }, { prefer: 'handling=strict' });
      assert.deepEqual([strict.status, strict.body().error.param], [400, 'tools[0]']);
      const forced = await send({ model: 'native', input: 'hi', tools, tool_choice: { type: 'web_search' } });
      assert.deepEqual([forced.status, forced.body().error.code], [400, 'unsupported_by_target']);
    });

    it('keep the items of a compaction, which name no stored one', async () => {
      const input = [
        { role: 'user', content: 'hi' },
        { type: 'compaction', id: 'cmp_1', encrypted_content: 'x' },
        { type: 'context_compaction', id: 'cc_1' },
        { type: 'compaction_trigger', id: 'ct_1' },
      ];
      for (const store of [true, false]) {
        const answer = await send({ model: 'native', store, input });
        assert.deepEqual([answer.status, sentTo(openai).input], [200, input]);
        if (!store) continue;
        await send({ model: 'native', previous_response_id: answer.body().id, input: 'more' });
        assert.deepEqual(sentTo(openai).input.slice(0, input.length), input);
      }
    });

    it('keep the output of a silent local shell, whose id is that of its call', async () => {
      const input = [
        { type: 'local_shell_call', id: 'lsh_1', call_id: 'call_1', status: 'completed', action: { type: 'exec' } },
        { type: 'local_shell_call_output', id: 'call_1', output: '' },
      ];
      const first = await create({ model: 'native', input });
      assert.deepEqual(sentTo(openai).input, input);
      await create({ model: 'native', previous_response_id: first.id, input: 'more' });
      assert.deepEqual(sentTo(openai).input.slice(0, 2), input);
    });

    it('keep these tools where the provider runs them', async () => {
      await restart({}, { hostedTools: true });
      const tools = [{ type: 'web_search' }];
      const answer = await send({ model: 'native', input: 'hi', tools, tool_choice: { type: 'web_search' } });
      assert.deepEqual([answer.status, sentTo(openai).tools], [200, tools]);
    });
  });

  describe('to a target of another protocol', () => {
    it('have the members of the reference with their defaults', async () => {
      const {
        id,
        created_at: createdAt,
        completed_at: completedAt,
        output,
        ...others
      } = (await send({ model: 'alone', input: 'hi' })).body();
      assert.match(id, /^resp_[0-9a-f]{32}$/);
      assert.ok(Math.abs(createdAt - Date.now() / 1_000) < 60 && completedAt >= createdAt);
      assert.deepEqual(
        output.map(({ id: itemId, ...item }: { id: string }) => [itemId.slice(0, 4), item]),
        [
          [
            'msg_',
            {
              type: 'message',
              status: 'completed',
              role: 'assistant',
              content: [{ type: 'output_text', annotations: [], logprobs: [], text: 'from the other' }],
            },
          ],
        ],
      );
      assert.deepEqual(others, {
        object: 'response',
        status: 'completed',
        background: false,
        error: null,
        incomplete_details: null,
        instructions: null,
        max_output_tokens: null,
        max_tool_calls: null,
        metadata: {},
        model: 'gpt-y',
        parallel_tool_calls: true,
        previous_response_id: null,
        prompt_cache_key: null,
        reasoning: { effort: null, summary: null },
        safety_identifier: null,
        service_tier: 'default',
        store: true,
        temperature: 1,
        text: { format: { type: 'text' } },
        tool_choice: 'auto',
        tools: [],
        top_logprobs: 0,
        top_p: 1,
        truncation: 'disabled',
        usage: {
          input_tokens: 5,
          input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
          output_tokens: 7,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: 12,
        },
      });
    });

    it('repeat what the request says, and carry neither instructions nor tools over to the next turn', async () => {
      const said = {
        instructions: 'Be brief.',
        max_output_tokens: 50,
        metadata: { topic: 'demo' },
        parallel_tool_calls: false,
        temperature: 0.5,
        top_p: 0.9,
        tools: [{ type: 'function', name: 'f', parameters: { n: 1.5 }, strict: true }],
        tool_choice: 'auto',
        user: 'someone',
      };
      const first = await create({ model: 'alone', input: 'hi', ...said });
      for (const [name, value] of Object.entries(said)) assert.deepEqual(first[name as keyof Read], value, name);
      const second = await create({ model: 'alone', input: 'more', previous_response_id: first.id });
      assert.deepEqual(
        [second.previous_response_id, second['instructions' as keyof Read], second['tools' as keyof Read]],
        [first.id, null, []],
      );
      assert.deepEqual(sentTo(other).messages, [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: 'from the other' },
        { role: 'user', content: 'more' },
      ]);
    });

    it('are translated with all that the neutral form knows', async () => {
      const image = 'data:image/png;base64,AAAA';
      await create({
        model: 'alone',
        instructions: 'Be brief.',
        input: [
          { role: 'developer', content: 'Be kind.' },
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'Look' },
              { type: 'input_image', image_url: image, detail: 'auto' },
            ],
          },
          { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":1.0}' },
          { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: 'free text' },
          { type: 'function_call_output', call_id: 'c1', output: 'one' },
          { type: 'custom_tool_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'two' }] },
          {
            role: 'user',
            content: [{ type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' }],
          },
        ],
        tools: [
          { type: 'function', name: 'f', parameters: { type: 'object', properties: { a: { const: 1.0 } } } },
          { type: 'custom', name: 'patch' },
        ],
        tool_choice: { type: 'function', name: 'f' },
        text: { format: { type: 'json_schema', name: 'answer', schema: { type: 'object' } } },
        max_output_tokens: 9,
      });
      const sent = sentTo(other);
      assert.deepEqual(sent.messages, [
        { role: 'system', content: 'Be brief.\n\nBe kind.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image_url', image_url: { url: image } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1.0}' } },
            { id: 'c2', type: 'function', function: { name: 'patch', arguments: '{"input":"free text"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'one' },
        { role: 'tool', tool_call_id: 'c2', content: 'two' },
        {
          role: 'user',
          content: [{ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' } }],
        },
      ]);
      assert.deepEqual(
        [sent.max_tokens, sent.tool_choice, sent.response_format.json_schema.name, sent.tools.length],
        [9, { type: 'function', function: { name: 'f' } }, 'answer', 2],
      );
    });

    it('get a call of a custom tool as a free text, whole and streamed', async () => {
      const tools = [{ type: 'custom', name: 'patch' }];
      const asked = { id: 'c1', type: 'function', function: { name: 'patch', arguments: '{"input":"a\\nb"}' } };
      other.answers(
        json({ ...completion(''), choices: [{ message: { tool_calls: [asked] }, finish_reason: 'tool_calls' }] }),
      );
      const whole = await create({ model: 'alone', input: 'hi', tools });
      const { id: _, ...item } = whole.output[0] ?? assert.fail();
      assert.deepEqual(item, {
        type: 'custom_tool_call',
        status: 'completed',
        call_id: 'c1',
        name: 'patch',
        input: 'a\nb',
      });
      other.answers(stream([role, chunk({ tool_calls: [{ index: 0, ...asked }] }), chunk({}, 'tool_calls'), done]));
      const events = eventsIn((await send({ model: 'alone', input: 'hi', tools, stream: true })).text);
      assert.deepEqual(
        events
          .filter(({ type }) => type.startsWith('response.custom_tool'))
          .map(({ type, delta, input }) => [type, delta ?? input]),
        [
          ['response.custom_tool_call_input.delta', 'a\nb'],
          ['response.custom_tool_call_input.done', 'a\nb'],
        ],
      );
    });

    it('end as incomplete where the answer was cut', async () => {
      other.answers(
        json({ ...completion('Once'), choices: [{ message: { content: 'Once' }, finish_reason: 'length' }] }),
      );
      const cut = (await send({ model: 'alone', input: 'hi' })).body();
      assert.deepEqual([cut.status, cut.incomplete_details], ['incomplete', { reason: 'max_output_tokens' }]);
      other.answers(stream([role, ...words('Once'), chunk({}, 'content_filter'), done]));
      const last = eventsIn((await send({ model: 'alone', input: 'hi', stream: true })).text).at(-1);
      assert.equal(last?.type, 'response.incomplete');
      assert.deepEqual((last?.response as { incomplete_details?: unknown })?.incomplete_details, {
        reason: 'content_filter',
      });
    });

    it('name what only tunes, and refuse what cannot be said', async () => {
      const answer = await send({
        model: 'alone',
        input: 'hi',
        truncation: 'auto',
        text: { verbosity: 'low' },
        reasoning: { effort: 'high', summary: 'auto' },
        tools: [{ type: 'web_search' }],
        prompt_cache_key: 'k',
        include: ['reasoning.encrypted_content'],
      });
      assert.deepEqual((answer.headers.get('x-switchyard-ignored') ?? '').split(/[;,] */).sort(), [
        '/prompt_cache_key',
        '/reasoning/effort',
        '/reasoning/summary',
        '/text/verbosity',
        '/tools/*',
        '/truncation',
      ]);
      for (const [input, pointer] of [
        [[{ type: 'computer_call', id: 'x', call_id: 'y' }], '/input/0'],
        [[{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }], '/input/0/content/0'],
      ] as const) {
        const refused = await send({ model: 'alone', input });
        assert.deepEqual([refused.status, refused.body().error.code], [400, 'unsupported_by_target']);
        assert.ok(refused.body().error.message.includes(pointer), refused.text);
      }
    });
  });

  describe('that are stored', () => {
    it('are read, listed with their items, replayed and deleted', async () => {
      const first = await create({ model: 'native', input: 'one' });
      openai.answers(json(saidBy('second')));
      const second = await create({
        model: 'native',
        input: [{ role: 'user', content: 'two' }],
        previous_response_id: first.id,
      });
      assert.deepEqual((await call('GET', `/${second.id}`)).body(), second);
      const listed = (await call('GET', `/${second.id}/input_items?order=asc`)).body();
      assert.deepEqual(
        listed.data.map(({ role: who, content }: { role: string; content: ReadonlyArray<{ text: string }> }) => [
          who,
          content[0]?.text,
        ]),
        [
          ['user', 'one'],
          ['assistant', 'from OpenAI'],
          ['user', 'two'],
        ],
      );
      assert.equal(listed.has_more, false);
      const page = (await call('GET', `/${second.id}/input_items?limit=2`)).body();
      assert.deepEqual([page.data.length, page.has_more, page.first_id], [2, true, listed.last_id]);
      const rest = (await call('GET', `/${second.id}/input_items?after=${page.last_id}`)).body();
      assert.deepEqual([rest.data.length, rest.has_more], [1, false]);
      const replayed = eventsIn((await call('GET', `/${second.id}?stream=true`)).text);
      assert.deepEqual(
        replayed.map(({ sequence_number: number }) => number),
        replayed.map((_, index) => index),
      );
      assert.deepEqual(replayed.at(-1)?.response, second);
      const later = eventsIn((await call('GET', `/${second.id}?stream=true&starting_after=2`)).text);
      assert.deepEqual(later, replayed.slice(3));
      const cancelled = await call('POST', `/${second.id}/cancel`);
      assert.deepEqual([cancelled.status, cancelled.body().error.code], [400, 'response_not_in_background']);
      assert.deepEqual((await call('DELETE', `/${first.id}`)).body(), {
        id: first.id,
        object: 'response',
        deleted: true,
      });
      for (const [method, under] of [
        ['GET', ''],
        ['GET', '/input_items'],
        ['DELETE', ''],
        ['POST', '/cancel'],
      ] as const)
        assert.equal((await call(method, `/${first.id}${under}`)).status, 404);
      // The second one needs the items of the first one still.
      await create({ model: 'native', input: 'three', previous_response_id: second.id });
      assert.deepEqual(sentTo(openai).input.length, 5);
    });

    it('are not stored if the client says so, or if the answer failed', async () => {
      const { id } = await create({ model: 'native', input: 'hi', store: false });
      assert.equal((await call('GET', `/${id}`)).status, 404);
      openai.answers(json(openAiResponse([], { status: 'failed', error: { code: 'server_error', message: 'x' } })));
      const failed = await create({ model: 'native', input: 'hi' });
      assert.equal(failed.store, false);
      assert.equal((await call('GET', `/${failed.id}`)).status, 404);
    });

    it('are answered with store: false if they cannot be stored', async () => {
      const responses = inMemoryResponses();
      await restart({ responses });
      responses.add = () => Promise.reject(new Error('the disk is full'));
      for (const model of ['native', 'alone']) {
        assert.equal((await create({ model, input: 'hi' })).store, false);
        if (model === 'native') openai.answers(stream(eventsOfResponse(saidBy('two'))));
        else other.answers(stream(saying('two')));
        const events = eventsIn((await send({ model, input: 'hi', stream: true })).text);
        assert.deepEqual(
          events.flatMap(({ response }) => response?.store ?? []),
          [true, true, false],
        );
      }
      assert.match(service.logged(), /could not be stored/);
    });

    it('are continued on another target, whatever the protocol', async () => {
      const first = await create({ model: 'native', input: 'one' });
      const second = await create({ model: 'alone', input: 'two', previous_response_id: first.id });
      await create({ model: 'native', input: 'three', previous_response_id: second.id });
      assert.deepEqual(
        sentTo(openai).input.map(({ content }: { content: string | ReadonlyArray<{ text: string }> }) =>
          typeof content === 'string' ? content : content[0]?.text,
        ),
        ['one', 'from OpenAI', 'two', 'from the other', 'three'],
      );
    });

    it('are named item by item, also by items of earlier turns', async () => {
      const first = await create({ model: 'native', input: 'one' });
      const itemId = first.output[0]?.id;
      const second = await create({
        model: 'native',
        input: [
          { role: 'user', content: 'one' },
          { type: 'item_reference', id: itemId },
          { role: 'user', content: 'two' },
        ],
      });
      assert.equal(textOfResponse({ ...second, output: [sentTo(openai).input[1]] }), 'from OpenAI');
      await create({ model: 'alone', input: 'three', previous_response_id: second.id });
      assert.deepEqual(
        sentTo(other).messages.map(({ content }: { content: string }) => content),
        ['one', 'from OpenAI', 'two', 'from OpenAI', 'three'],
      );
      assert.equal((await call('DELETE', `/${first.id}`)).status, 200);
      const gone = await send({ model: 'native', input: [{ type: 'item_reference', id: itemId }] });
      assert.deepEqual([gone.status, gone.body().error.code], [404, 'response_item_not_found']);
      // The second one still has what it names, and nothing else of the first one is there.
      const continued = { model: 'native', previous_response_id: second.id };
      const third = await create({ ...continued, input: 'four' });
      assert.equal(textOfResponse({ ...second, output: [sentTo(openai).input[1]] }), 'from OpenAI');
      await create({ model: 'alone', input: 'five', previous_response_id: third.id });
      assert.equal(sentTo(other).messages[1].content, 'from OpenAI');
      const unnamed = [{ type: 'item_reference', id: `msg_${first.id.slice(5)}_i0` }];
      assert.equal((await send({ ...continued, input: unnamed })).status, 404);
      assert.equal((await send({ ...continued, input: [{ type: 'item_reference', id: itemId }] })).status, 200);
    });

    describe('and name one item often', () => {
      const mebibyte = 1024 * 1024;
      const references = (id: string | undefined, count: number) =>
        Array.from({ length: count }, () => ({ type: 'item_reference', id }));
      /** Stores an item, and returns its id. */
      const storedItem = async (item: Readonly<Record<string, unknown>>) => {
        openai.answers(json(openAiResponse([item])), (res, seen) => json(saidBy('from OpenAI'))(res, seen));
        return (await create({ model: 'native', input: 'hi' })).output[0]?.id;
      };

      it('are refused before a body of more than the most bytes is made', async () => {
        await restart({ limits: { maxJsonBytes: 4 * mebibyte } });
        const id = await storedItem(outputMessage('x'.repeat(mebibyte)));
        const refused = await send({ model: 'native', input: references(id, 5_000) });
        assert.deepEqual([refused.status, refused.body().error.code], [413, 'body_too_large']);
        const second = await create({ model: 'native', input: references(id, 2) });
        const continued = { model: 'native', previous_response_id: second.id };
        await create({ ...continued, input: references(id, 1) });
        for (const input of [references(id, 2), references(id, 5_000)])
          assert.equal((await send({ ...continued, input })).status, 413);
        const third = await create({ ...continued, input: references(id, 1) });
        assert.equal(
          (await send({ ...continued, previous_response_id: third.id, input: references(id, 1) })).status,
          413,
        );
      });

      it('hold memory for each time, in later turns too', async () => {
        const admission = new Admission();
        const bodies = admission.budgets.body;
        await restart({ admission });
        const id = await storedItem(outputMessage('x'.repeat(mebibyte / 4)));
        const isHeld: boolean[] = [];
        openai.answers((res, seen) => {
          isHeld.push(bodies.bytes >= seen.body.length && seen.body.length > 1.25 * mebibyte);
          json(saidBy('from OpenAI'))(res, seen);
        });
        const second = await create({ model: 'native', input: references(id, 5) });
        await create({ model: 'native', input: 'more', previous_response_id: second.id });
        assert.deepEqual(isHeld, [true, true]);
      });

      it('count its values each time where they are translated', async () => {
        const content = Array.from({ length: 10_000 }, () => ({ type: 'output_text', text: '', annotations: [] }));
        const id = await storedItem({ type: 'message', id: 'msg_many', role: 'assistant', content });
        const [few, many] = [
          await create({ model: 'native', input: references(id, 2) }),
          await create({ model: 'native', input: references(id, 3) }),
        ];
        const translated = await send({ model: 'alone', input: 'more', previous_response_id: few.id });
        assert.equal(translated.status, 200, translated.text);
        assert.equal((await send({ model: 'alone', input: 'more', previous_response_id: many.id })).status, 400);
      });
    });

    for (const id of [`resp_${'0bc0c'.repeat(10)}`, '0f8fad5b-d9cb-469f-a165-70867728950e'])
      it(`have the same ids of items at each reading, by which they are listed and named: ${id}`, async () => {
        openai.answers(json({ ...saidBy('one'), id }));
        const input = Array.from({ length: 25 }, (_, index) => ({ role: 'user', content: `message ${index}` }));
        await create({ model: 'native', input });
        const ids: string[] = [];
        for (let after = ''; ids.length <= 25; ) {
          const page = (await call('GET', `/${id}/input_items?limit=10&order=asc${after}`)).body();
          ids.push(...page.data.map((item: { id: string }) => item.id));
          after = `&after=${page.last_id}`;
          if (!page.has_more) break;
        }
        assert.deepEqual([ids.length, new Set(ids).size], [25, 25]);
        openai.answers(json(saidBy('two')));
        const named = await create({ model: 'native', input: [{ type: 'item_reference', id: ids[7] }] });
        assert.equal(sentTo(openai).input[0].content, 'message 7');
        await create({ model: 'alone', input: [], previous_response_id: named.id });
        assert.equal(sentTo(other).messages[0].content, 'message 7');
      });

    for (const levels of [255, 256])
      it(`can always be read again, replayed, listed and continued, also an answer of ${levels} levels`, async () => {
        const nested = (depth: number) => '{"a":'.repeat(depth) + 0 + '}'.repeat(depth);
        // The answer, its output, and the item are three levels.
        const text = JSON.stringify(openAiResponse([{ ...outputMessage('deep'), nested: 0 }]));
        const answered = text.replace('"nested":0', () => `"nested":${nested(levels - 3)}`);
        openai.answers(bytes(answered, { 'content-type': 'application/json' }));
        const { id, store } = await create({ model: 'native', input: 'one' });
        assert.equal(store, true);
        assert.equal((await call('GET', `/${id}`)).status, 200);
        assert.match((await call('GET', `/${id}?stream=true`)).text, /response\.completed/);
        openai.answers(json(saidBy('two')));
        const next = await create({ model: 'native', input: 'two', previous_response_id: id });
        assert.deepEqual(typesSentTo(openai), ['message', 'message', 'message']);
        assert.equal((await call('GET', `/${next.id}/input_items`)).body().data.length, 3);
        await create({ model: 'alone', input: 'three', previous_response_id: next.id });
      });

    it('are not stored if their project is erased meanwhile, and say so', async () => {
      const { responses } = service.gateway;
      openai.answers(async (res, seen) => {
        await responses.eraseProject(someCaller.projectId);
        await json(saidBy('late'))(res, seen);
      });
      const answer = await create({ model: 'native', input: 'one' });
      assert.equal(answer.store, false);
      assert.equal((await call('GET', `/${answer.id}`)).status, 404);
    });

    describe('and name items of earlier turns and of other conversations', () => {
      type Listed = { readonly id: string; readonly content: unknown };
      const page = async (id: string, query: string) =>
        (await call('GET', `/${id}/input_items?${query}`)).body() as { data: Listed[]; has_more: boolean };

      it('are listed whole, whatever the order and the size of a page', async () => {
        const said = async (text: string, previous: Read | null, named: ReadonlyArray<Read> = []) => {
          openai.answers(json(saidBy(`answer ${text}`)));
          const references = named.map(({ output }) => ({ type: 'item_reference', id: output[0]?.id }));
          const input = [{ role: 'user', content: text }, ...references, { role: 'user', content: `end ${text}` }];
          return create({ model: 'native', input, previous_response_id: previous?.id ?? null });
        };
        const elsewhere = await said('elsewhere', null);
        const first = await said('one', null);
        const second = await said('two', first);
        const third = await said('three', second, [first, elsewhere, first]);
        const fourth = await said('four', third, [second, third, elsewhere]);
        for (const order of ['asc', 'desc']) {
          const { data: all } = await page(fourth.id, `order=${order}&limit=100`);
          assert.deepEqual([all.length, new Set(all.map(({ id }) => id)).size], [17, 17]);
          assert.ok(all.every(({ content }) => content !== undefined));
          for (let limit = 1; limit <= all.length; limit += 1) {
            const listed: Listed[] = [];
            for (let hasMore = true; hasMore && listed.length <= all.length; ) {
              const last = listed.at(-1);
              const after = last === undefined ? '' : `&after=${last.id}`;
              const { data, has_more } = await page(fourth.id, `order=${order}&limit=${limit}${after}`);
              listed.push(...data);
              hasMore = has_more;
            }
            assert.deepEqual(listed, all, `${order}, ${limit}`);
          }
        }
      });
    });

    it('are not listed after an item that they do not have', async () => {
      const { id } = await create({ model: 'native', input: 'one' });
      const refused = await call('GET', `/${id}/input_items?after=msg_unknown`);
      assert.deepEqual([refused.status, refused.body().error.param], [400, 'after']);
    });

    it('are named by an item that also has an opaque part of reasoning', async () => {
      const first = await create({ model: 'native', input: [{ id: 'rs_1', role: 'user', content: 'one' }] });
      assert.equal(first.store, true);
      for (const named of [{ id: 'rs_1' }, { type: 'item_reference', id: 'rs_1' }]) {
        await create({ model: 'native', input: [{ ...named, encrypted_content: 'abc' }] });
        assert.equal(sentTo(openai).input[0].content, 'one');
      }
    });

    it('keep an opaque part that only looks like one of the gateway', async () => {
      const looking = { type: 'reasoning', summary: [], encrypted_content: 'switchyard:%:0:x' };
      const body = { input: [looking, { role: 'user', content: 'hi' }] };
      await create({ model: 'native', ...body });
      assert.deepEqual(sentTo(openai).input[0], looking);
      assert.equal((await send({ model: 'alone', ...body })).status, 200);
    });

    it('give reasoning back to the provider that made it, and to no other', async () => {
      const thought = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'secret-of-openai' };
      openai.answers(json(openAiResponse([thought, outputMessage('one')])));
      const first = await create({ model: 'thinking', input: 'hi' });
      await create({ model: 'thinking', input: 'more', previous_response_id: first.id });
      assert.deepEqual(sentTo(openai).input[1], thought);
      await create({ model: 'alone', input: 'more', previous_response_id: first.id });
      assert.ok(!JSON.stringify(sentTo(other)).includes('secret-of-openai'));
      // The same account under another name is another provider.
      const two = configuration();
      const providers = { ...two.providers, second: two.providers.openai };
      service.configure({
        ...two,
        providers,
        models: { ...two.models, second: { targets: [{ provider: 'second', model: 'gpt-x' }] } },
      });
      await create({ model: 'second', input: 'more', previous_response_id: first.id });
      assert.deepEqual(typesSentTo(openai), ['message', 'message', 'message']);
    });

    describe('and have what not every target gets', () => {
      const look = { type: 'function', name: 'look', parameters: {} };
      const adding = { type: 'additional_tools', role: 'developer', tools: [look, { type: 'web_search' }] };
      const found = { type: 'tool_search_output', call_id: 'a', execution: 'server', tools: [{ type: 'mcp' }, look] };
      const compaction = { type: 'compaction', id: 'cmp_1', encrypted_content: 'history' };
      const strictly = { prefer: 'handling=strict' };
      const ignoredBy = ({ headers }: { headers: Headers }) => headers.get('x-switchyard-ignored');

      it('lose the tools that it does not run, by name', async () => {
        await restart({}, { hostedTools: true });
        const first = await create({ model: 'native', input: [adding, found, { role: 'user', content: 'hi' }] });
        assert.deepEqual(sentTo(openai).input[0], adding);
        const next = { model: 'native', previous_response_id: first.id, input: 'more' };
        await create(next);
        assert.deepEqual(sentTo(openai).input[0], adding);
        service.configure(configuration());
        const answer = await send(next);
        assert.equal(answer.status, 200, answer.text);
        const tools = sentTo(openai)
          .input.slice(0, 2)
          .map((item: { tools: unknown }) => item.tools);
        assert.deepEqual([tools, ignoredBy(answer)], [[[look], [look]], '/input/*/tools/*']);
        const strict = await send(next, strictly);
        assert.deepEqual([strict.status, strict.body().error.param], [400, 'input[0].tools[1]']);
      });

      it('lose the short form of their history that another provider made, by name', async () => {
        const { providers, models } = configuration();
        const second = { targets: [{ provider: 'second', model: 'gpt-y' }] };
        service.configure({
          providers: { ...providers, second: { ...providers.openai, baseUrl: other.baseUrl } },
          models: { ...models, second },
        });
        other.answers((res, seen) => json(saidBy('from the second'))(res, seen));
        openai.answers(json(openAiResponse([compaction, outputMessage('one')])));
        const first = await create({ model: 'native', input: 'hi' });
        openai.answers((res, seen) => json(saidBy('two'))(res, seen));
        for (const more of [
          { previous_response_id: first.id, input: 'more' },
          { input: [{ role: 'user', content: 'hi' }, compaction] },
          {
            input: [
              { role: 'user', content: 'hi' },
              { type: 'item_reference', id: 'cmp_1' },
            ],
          },
        ]) {
          await create({ model: 'native', ...more });
          assert.deepEqual(sentTo(openai).input[1], compaction);
          const answer = await send({ model: 'second', ...more });
          assert.equal(answer.status, 200, answer.text);
          assert.ok(!JSON.stringify(sentTo(other)).includes('history'));
          assert.equal(ignoredBy(answer), '/input/*');
          const strict = await send({ model: 'second', ...more }, strictly);
          assert.deepEqual([strict.status, strict.body().error.param], [400, 'input[1]']);
        }
      });

      it('lose by name a short form of a history that no provider took', async () => {
        const first = await create({ model: 'alone', input: [compaction, { role: 'user', content: 'hi' }] });
        const answer = await send({ model: 'native', previous_response_id: first.id, input: 'more' });
        assert.equal(answer.status, 200, answer.text);
        assert.ok(!JSON.stringify(sentTo(openai)).includes('history'));
        assert.equal(ignoredBy(answer), '/input/*');
      });
    });

    describe('and have reasoning that the client sends again', () => {
      const thought = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'secret-of-openai' };
      const history = [{ role: 'user', content: 'hi' }, thought, { role: 'user', content: 'more' }];
      const second = { provider: 'second', model: 'gpt-y' };
      const isSent = (provider: FakeProvider) => JSON.stringify(sentTo(provider)).includes('secret-of-openai');

      beforeEach(() => {
        const { providers, models } = configuration();
        const fallback = { targets: [{ provider: 'openai', model: 'gpt-x' }], fallbacks: [second], retries: 0 };
        service.configure({
          providers: { ...providers, second: { ...providers.openai, baseUrl: other.baseUrl } },
          models: { ...models, fallback, second: { targets: [second] } },
        });
      });

      it('look up one that is there often once', async () => {
        const { store } = service.gateway.responses;
        const { providersOf } = store;
        const asked: string[] = [];
        const watched: typeof providersOf = (projectId, names) => {
          asked.push(...names);
          return providersOf.call(store, projectId, names);
        };
        Object.assign(store, { providersOf: watched });
        const input = [...Array.from({ length: 100 }, () => thought), { role: 'user', content: 'more' }];
        try {
          await create({ model: 'native', input });
        } finally {
          Object.assign(store, { providersOf });
        }
        assert.deepEqual(asked, ['reasoning:rs_1']);
      });

      it('give it only to the provider that made it, in every later turn', async () => {
        openai.answers(json(openAiResponse([thought, outputMessage('one')])));
        await create({ model: 'native', input: 'hi' });
        openai.answers(error(500, 'busy'), (res, seen) => json(saidBy('from OpenAI'))(res, seen));
        other.answers((res, seen) => json(saidBy('from the second'))(res, seen));
        const later = await create({ model: 'fallback', input: history });
        assert.equal(textOfResponse(later), 'from the second');
        assert.equal(isSent(other), false);
        for (const more of [{ input: history }, { input: 'more', previous_response_id: later.id }]) {
          await create({ model: 'second', ...more });
          assert.equal(isSent(other), false);
          await create({ model: 'native', ...more });
          assert.deepEqual(sentTo(openai).input[1], thought);
        }
      });

      it('give it only to the provider that took it first, if it is of an unknown one', async () => {
        other.answers((res, seen) => json(saidBy('from the second'))(res, seen));
        const first = await create({ model: 'native', input: history });
        assert.deepEqual(sentTo(openai).input[1], thought);
        for (const more of [{ input: history }, { input: 'more', previous_response_id: first.id }]) {
          await create({ model: 'second', ...more });
          assert.equal(isSent(other), false);
          await create({ model: 'native', ...more });
          assert.deepEqual(sentTo(openai).input[1], thought);
        }
      });

      it('give it to nobody in later turns, if no provider took it', async () => {
        const first = await create({ model: 'alone', input: history });
        const stored = await service.gateway.responses.store.find(someCaller.projectId, first.id);
        assert.deepEqual(stored?.items, ['rs_1'], 'no name of reasoning finds it');
        await create({ model: 'native', input: 'more', previous_response_id: first.id });
        assert.equal(isSent(openai), false);
        await create({ model: 'native', input: [{ type: 'item_reference', id: 'rs_1' }, ...history.slice(2)] });
        assert.equal(isSent(openai), false);
      });
    });

    it('are continued by an input of which a target gets nothing, or by none', async () => {
      const first = await create({ model: 'native', input: 'one' });
      const foreign = { type: 'reasoning', summary: [], encrypted_content: signatureTextOf(signed) };
      for (const input of [[foreign], [], undefined]) {
        await create({ model: 'native', input, previous_response_id: first.id });
        assert.deepEqual(typesSentTo(openai), ['message', 'message']);
        assert.equal(sentTo(openai).previous_response_id, undefined);
      }
      await create({
        model: 'native',
        input: [foreign, { role: 'user', content: 'x' }, foreign],
        previous_response_id: first.id,
      });
      assert.deepEqual(sentTo(openai).input.length, 3);
      const thought = { id: 'rs_1', type: 'reasoning', summary: [] };
      openai.answers(json(openAiResponse([thought])));
      const unreadable = await create({ model: 'native', input: [{ ...thought, id: 'rs_2' }] });
      for (const input of ['two', undefined]) {
        await create({ model: 'native', input, previous_response_id: unreadable.id });
        assert.deepEqual(sentTo(openai).input, input ?? []);
      }
    });
  });

  describe('of two projects', () => {
    const scopes: Caller['scopes'] = new Set(['gateway:read', 'gateway:write', 'files:read']);
    const callers: Readonly<Record<string, Caller>> = {
      one: { ...someCaller, scopes, projectId: 'cproject1', keyId: 'ckey1' },
      two: { ...someCaller, scopes, projectId: 'cproject2', keyId: 'ckey2' },
      blind: { ...someCaller, scopes: new Set(['gateway:write']), projectId: 'cproject1', keyId: 'ckey3' },
    };
    const file = (text: string, contentType: string) => ({
      filename: 'a.txt',
      contentType,
      bytes: Buffer.byteLength(text),
      open: async () => {
        const { Readable } = await import('node:stream');
        return Readable.from([Buffer.from(text.slice(0, 2)), Buffer.from(text.slice(2))]);
      },
    });
    beforeEach(() =>
      restart({
        authenticate: async (key) => callers[key] ?? null,
        findFile: async (id, projectId) => {
          if (projectId !== 'cproject1') return null;
          if (id === 'file-huge00000') return { ...file('x', 'text/plain'), bytes: 30 * 1024 * 1024 };
          return id === 'file-one00000'
            ? file('Hello', 'text/plain')
            : id === 'file-pic00000'
              ? file('png', 'image/png')
              : null;
        },
      }),
    );
    const as = (key: string) => ({ 'x-api-key': key });

    it('the ids of one are those of nothing for the other, in every place', async () => {
      const first = (await send({ model: 'native', input: 'hi' }, as('one'))).body() as Read;
      const item = first.output[0]?.id;
      const tried = [
        send({ model: 'native', input: 'hi', previous_response_id: first.id }, as('two')),
        send({ model: 'native', input: [{ type: 'item_reference', id: item }] }, as('two')),
        send({ model: 'native', input: [{ id: item }] }, as('two')),
        call('GET', `/${first.id}`, undefined, as('two')),
        call('GET', `/${first.id}?stream=true`, undefined, as('two')),
        call('GET', `/${first.id}/input_items`, undefined, as('two')),
        call('POST', `/${first.id}/cancel`, undefined, as('two')),
        call('DELETE', `/${first.id}`, undefined, as('two')),
        send(
          { model: 'native', input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-one00000' }] }] },
          as('two'),
        ),
        send(
          {
            model: 'native',
            input: [
              {
                type: 'function_call_output',
                call_id: 'c',
                output: [{ type: 'input_image', file_id: 'file-pic00000' }],
              },
            ],
          },
          as('two'),
        ),
        ...[
          { conversation: 'conv_1' },
          { conversation: { id: 'conv_1' } },
          { prompt: { id: 'pmpt_1' } },
          { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] },
          { tools: [{ type: 'code_interpreter', container: 'cntr_1' }] },
          { tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['file-1'] } }] },
          { tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: 'cntr_1' } }] },
          { tools: [{ type: 'shell', environment: { type: 'container_auto', skills: [{ skill_id: 'skill_1' }] } }] },
          { tools: [{ type: 'image_generation', input_image_mask: { file_id: 'file-1' } }] },
          {
            input: [
              {
                type: 'computer_call_output',
                call_id: 'c',
                output: { type: 'computer_screenshot', file_id: 'file-1' },
              },
            ],
          },
        ].map((more) => send({ model: 'native', input: 'hi', ...more }, as('two'))),
      ];
      const seen = openai.seen.length;
      for (const [index, answer] of (await Promise.all(tried)).entries())
        assert.equal(answer.status, 404, `${index}: ${answer.text}`);
      assert.equal(openai.seen.length, seen, 'no provider was asked');
      assert.equal((await call('GET', `/${first.id}`, undefined, as('one'))).status, 200);
    });

    it('an item by its id alone is the stored one, or nothing', async () => {
      const picture = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'cGljdHVyZQ==' };
      openai.answers(json(openAiResponse([picture])));
      await send({ model: 'native', input: 'draw' }, as('one'));
      const { result: _, ...named } = { ...picture, revised_prompt: 'a cat' };
      const asked = [{ role: 'user', content: 'and now a dog' }, named];
      const first = (await send({ model: 'native', input: asked }, as('one'))).body() as Read;
      assert.deepEqual(sentTo(openai).input[1], picture);
      await send({ model: 'native', input: 'more', previous_response_id: first.id }, as('one'));
      assert.deepEqual(sentTo(openai).input[1], picture);
      const seen = openai.seen.length;
      for (const item of [
        named,
        { type: 'image_generation_call', id: 'ig_1', result: null },
        { type: 'x', id: 'ig_1' },
      ]) {
        const refused = await send({ model: 'native', input: [item] }, as('two'));
        assert.deepEqual([refused.status, refused.body().error.code], [404, 'response_item_not_found']);
      }
      assert.equal(openai.seen.length, seen, 'no provider was asked');
    });

    it('a file may be named a thousand times, and is refused before it is looked up beyond that', async () => {
      const part = { type: 'input_file', file_id: 'file-none00000' };
      const input = [{ role: 'user', content: Array.from({ length: 1_001 }, () => part) }];
      const refused = await send({ model: 'native', input }, as('one'));
      assert.deepEqual(
        [refused.status, refused.body().error.code, refused.body().error.param],
        [400, 'too_many_files', 'input[0].content[1000].file_id'],
      );
    });

    it('a conversation with a file and more items than are read together is too long', async () => {
      const file = { role: 'user', content: [{ type: 'input_file', file_id: 'file-one00000' }] };
      const first = await send({ model: 'native', input: [file] }, as('one'));
      const many = Array.from({ length: 17_000 }, () => ({ type: 'message', role: 'user', content: '' }));
      const again = { model: 'native', input: many, previous_response_id: first.body().id };
      const second = await send(again, as('one'));
      assert.deepEqual([second.status, second.body().store], [200, true]);
      const refused = await send({ ...again, previous_response_id: second.body().id }, as('one'));
      assert.deepEqual([refused.status, refused.body().error.code], [413, 'conversation_too_long']);
    });

    it('a file of the project is sent inside the call, again in each turn', async () => {
      const input = [
        {
          role: 'user',
          content: [
            { type: 'input_file', file_id: 'file-one00000' },
            { type: 'input_image', detail: 'low', file_id: 'file-pic00000' },
          ],
        },
      ];
      const first = (await send({ model: 'native', input }, as('one'))).body() as Read;
      const inlined = [
        { type: 'input_file', filename: 'a.txt', file_data: `data:text/plain;base64,${btoa('Hello')}` },
        { type: 'input_image', detail: 'low', image_url: `data:image/png;base64,${btoa('png')}` },
      ];
      assert.deepEqual(sentTo(openai).input[0].content, inlined);
      await send({ model: 'native', input: 'more', previous_response_id: first.id }, as('one'));
      assert.deepEqual(sentTo(openai).input[0].content, inlined);
      const { data } = (await call('GET', `/${first.id}/input_items`, undefined, as('one'))).body();
      const named = [{ type: 'item_reference', id: data[0].id }];
      const second = (await send({ model: 'native', input: named }, as('one'))).body() as Read;
      assert.deepEqual(sentTo(openai).input[0].content, inlined);
      await send({ model: 'native', input: 'more', previous_response_id: second.id }, as('one'));
      assert.deepEqual(sentTo(openai).input[0].content, inlined, 'also in an item of another conversation');
      assert.deepEqual(data[0].content, input[0]?.content, 'what is stored names the file');
      const refused = await send({ model: 'native', input }, as('blind'));
      assert.deepEqual([refused.status, refused.body().error.code], [403, 'scope_required']);
      const huge = [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-huge00000' }] }];
      assert.equal((await send({ model: 'native', input: huge }, as('one'))).status, 413);
    });

    it('a file of an earlier turn that is gone becomes a text, and the answer names it', async () => {
      const input = [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-late0000' }] }];
      let isThere = true;
      await restart({
        authenticate: async (key) => callers[key] ?? null,
        findFile: async () => (isThere ? file('Hello', 'text/plain') : null),
      });
      const first = (await send({ model: 'native', input }, as('one'))).body() as Read;
      isThere = false;
      const continued = { input: 'and now?', previous_response_id: first.id };
      for (const model of ['native', 'alone']) {
        const answer = await send({ model, ...continued }, as('one'));
        assert.equal(answer.status, 200, answer.text);
        assert.equal(answer.headers.get('x-switchyard-ignored'), '/previous_response_id/file-late0000');
        const seen = model === 'native' ? openai.seen : other.seen;
        assert.match(String(seen.at(-1)?.body), /\[file file-late0000 is no longer available\]/);
      }
      const strict = await send({ model: 'native', ...continued }, { ...as('one'), prefer: 'handling=strict' });
      assert.deepEqual([strict.status, strict.body().error.param], [404, 'previous_response_id']);
      const own = await send({ model: 'native', ...continued, input }, as('one'));
      assert.deepEqual([own.status, own.body().error.code], [404, 'file_not_found']);
    });
  });

  describe('the events of the reference', () => {
    const asked = (name: string, given: string) =>
      chunk({ tool_calls: [{ index: 0, id: 'c1', function: { name, arguments: given } }] });
    const answers: Readonly<Record<string, Behaviour>> = {
      text: stream(saying('Once', ' upon')),
      cut: stream([role, ...words('Once'), chunk({}, 'length'), done]),
      refusal: stream([role, chunk({ refusal: 'No.' }), stop, done]),
      reasoning: stream([role, chunk({ reasoning_content: 'Hm.' }), ...words('Once'), stop, done]),
      call: stream([role, asked('f', '{}'), chunk({}, 'tool_calls'), done]),
      'free text': stream([role, asked('c', '{"input":"x"}'), chunk({}, 'tool_calls'), done]),
      broken: async (res, seen) => {
        await stream([role, ...words('Once')], { after: 'stall' })(res, seen);
        setTimeout(() => res.destroy(), 50);
      },
    };
    for (const [name, behaviour] of Object.entries(answers))
      it(`come as the table says: ${name}`, async () => {
        other.answers(behaviour);
        const tools = [
          { type: 'function', name: 'f' },
          { type: 'custom', name: 'c' },
        ];
        service.configure(configuration({ retries: 0 }));
        const events = eventsIn((await send({ model: 'alone', stream: true, input: 'hi', tools })).text);
        const seen = new Set(events.map(({ type }) => type));
        for (const [type, by] of Object.entries(sourceOfEvent)) {
          if (by === name) assert.ok(seen.has(type), `${type} is missing`);
          if (neverReasons.includes(by)) assert.ok(!seen.has(type), `${type} came`);
        }
        assert.deepEqual(
          events.map(({ sequence_number: number }) => number),
          events.map((_, index) => index),
        );
      });
  });
});
