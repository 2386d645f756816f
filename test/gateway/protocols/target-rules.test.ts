import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { anthropicMessages } from '#gateway/protocols/anthropic-messages/anthropic-messages.ts';
import { idWithState } from '#gateway/protocols/call-state.ts';
import { openAiChat } from '#gateway/protocols/openai-chat/openai-chat.ts';
import { openAiResponses, responsesTextRequest } from '#gateway/protocols/openai-responses/openai-responses.ts';
import { readResponsesRequest } from '#gateway/protocols/openai-responses/responses-request.ts';
import type { TextProtocol, TextRequest } from '#gateway/protocols/protocol.ts';
import { signatureTextOf } from '#gateway/protocols/signature-text.ts';
import type { TargetModel } from '#gateway/protocols/target-model.ts';
import { FakeProvider } from '#test/gateway/support/fake-provider.ts';
import { post, startGateway } from '#test/gateway/support/gateway-service.ts';
import { plainTarget } from '#test/gateway/support/plain-target.ts';
import { chatRules, strictChat } from '#test/gateway/support/strict-chat.ts';
import { messagesRules, signatureOf, strictMessages } from '#test/gateway/support/strict-messages.ts';
import { type Body, isObject, listOf, type Rule } from '#test/gateway/support/strict-provider.ts';

const headers = { 'x-api-key': 'k', authorization: 'Bearer k', 'anthropic-version': '2023-06-01' };

interface Target {
  readonly protocol: TextProtocol;
  readonly rules: ReadonlyArray<Rule>;
}
const anthropic: Target = { protocol: anthropicMessages, rules: messagesRules };
const chat: Target = { protocol: openAiChat, rules: chatRules };
/** A provider that takes what the strict one refuses, as many local servers do. */
const unjudged = ({ protocol }: Target): Target => ({ protocol, rules: [] });

async function requestOf(from: string, body: object): Promise<TextRequest> {
  const bytes = Buffer.from(JSON.stringify({ model: 'a', ...body }));
  const read =
    from === openAiResponses.name
      ? E.map((request: Parameters<typeof responsesTextRequest>[0]) =>
          responsesTextRequest({ ...request, before: null }, null),
        )(await readResponsesRequest(bytes, 100_000))
      : await (from === openAiChat.name ? openAiChat : anthropicMessages).client.read(bytes, 100_000);
  assert.ok(E.isRight(read), JSON.stringify(read));
  return read.right;
}

/** The body that a target gets, which its provider takes, and what is named as left out; or the place of a refusal. */
async function sentTo(target: Target, from: string, body: object, model: Partial<TargetModel> = {}) {
  const parsed = await (await requestOf(from, body)).parse(100_000);
  assert.ok(E.isRight(parsed), JSON.stringify(parsed));
  const { conversation, ignored } = parsed.right;
  const written = target.protocol.provider.write(conversation, { ...plainTarget, ...model });
  if (E.isLeft(written)) return { refused: written.left.pointer, sent: {} as Body, ignored: [] };
  const sent: unknown = JSON.parse(written.right.body.toString());
  assert.ok(isObject(sent));
  const faults = target.rules.map(({ refuses }) => refuses(sent, headers)).filter((fault) => fault !== null);
  assert.deepEqual(faults, [], JSON.stringify(sent));
  return { refused: null, sent, ignored: [...ignored, ...written.right.ignored] };
}

const messagesIn = (sent: Body): ReadonlyArray<Body> => listOf(sent.messages);
const hi = [{ role: 'user', content: 'hi' }];
const called = (id: string) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'look', arguments: '{}' } }],
});
const tool = (id: string) => ({ role: 'tool', tool_call_id: id, content: `R${id}` });
const look = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } };
const functionCall = (id: string) => ({ type: 'function_call', call_id: id, name: 'look', arguments: '{}' });
const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: `R${id}` });

describe('results of tools', () => {
  const between: ReadonlyArray<readonly [string, ReadonlyArray<object>]> = [
    ['a text of the user', [functionCall('a'), { role: 'user', content: 'stop?' }, output('a')]],
    ['a text of the developer', [functionCall('a'), { role: 'developer', content: 'note' }, output('a')]],
    ['reasoning', [functionCall('a'), { type: 'reasoning', summary: [] }, output('a')]],
    ['an answer', [functionCall('a'), { role: 'assistant', content: 'Let me see.' }, output('a')]],
    ['another call', [functionCall('a'), functionCall('b'), output('b'), output('a')]],
    ['another call and a text', [functionCall('a'), hi[0] as object, functionCall('b'), output('a'), output('b')]],
    ['nothing, but before the call', [output('a'), functionCall('a')]],
  ];
  for (const [what, items] of between)
    for (const target of [anthropic, chat])
      it(`given ${what} between call and result when a request of Responses is sent to ${target.protocol.name} then the provider takes it`, async () => {
        const { sent } = await sentTo(target, openAiResponses.name, { input: [...hi, ...items, ...hi] });
        const text = JSON.stringify(sent);
        for (const item of items) if ('output' in item) assert.ok(text.includes(String(item.output)), text);
      });

  it('given a call without a result when it is sent to another protocol then the provider judges it', async () => {
    const input = [...hi, functionCall('a'), { role: 'user', content: 'stop' }];
    const toAnthropic = await sentTo(unjudged(anthropic), openAiResponses.name, { input });
    assert.deepEqual(
      messagesIn(toAnthropic.sent).map(({ role, content }) => [role, ...listOf(content).map(({ type }) => type)]),
      [
        ['user', 'text'],
        ['assistant', 'tool_use'],
        ['user', 'text'],
      ],
    );
    const toChat = await sentTo(unjudged(chat), openAiResponses.name, { input });
    assert.deepEqual(toChat.sent.messages, [...hi, called('a'), { role: 'user', content: 'stop' }]);
  });

  it('given a result without a call when it is sent to another protocol then the provider judges it', async () => {
    const input = [...hi, { type: 'reasoning', summary: [] }, output('a'), { role: 'user', content: 'go on' }];
    const toAnthropic = await sentTo(unjudged(anthropic), openAiResponses.name, { input });
    assert.deepEqual(
      messagesIn(toAnthropic.sent).map(({ content }) => listOf(content).map(({ type }) => type)),
      [['tool_result', 'text', 'text']],
    );
    const toChat = await sentTo(unjudged(chat), openAiResponses.name, { input });
    assert.deepEqual(toChat.sent.messages, [...hi, tool('a'), { role: 'user', content: 'go on' }]);
    const { sent } = await sentTo(unjudged(chat), openAiChat.name, { messages: [...hi, tool('a'), ...hi] });
    assert.deepEqual(sent.messages, [...hi, tool('a'), ...hi]);
  });

  it('given calls in a conversation and no tools when it is sent to Anthropic then they are declared and not called', async () => {
    const { sent } = await sentTo(anthropic, openAiChat.name, { messages: [...hi, called('a'), tool('a')] });
    assert.deepEqual([listOf(sent.tools).map(({ name }) => name), sent.tool_choice], [['look'], { type: 'none' }]);
  });

  it('given an id of more than 40 characters when it is sent to a chat then call and result have a shorter one', async () => {
    const id = `toolu_${'x'.repeat(60)}`;
    const use = { role: 'assistant', content: [{ type: 'tool_use', id, name: 'look', input: {} }] };
    const answered = { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'R' }] };
    await sentTo(chat, anthropicMessages.name, { max_tokens: 9, messages: [...hi, use, answered] });
  });
});

describe('results of tools, at providers that refuse what the real ones refuse', () => {
  const input = [...hi, functionCall('a'), { role: 'developer', content: 'note' }, ...hi, output('a')];
  const tools = [{ type: 'function', name: 'look', parameters: null }];

  for (const [kind, strict] of [
    ['openai-compatible', strictChat()],
    ['anthropic', strictMessages()],
  ] as const)
    it(`given texts between a call and its result when a client of Responses asks ${kind} then it answers`, async () => {
      const provider = await FakeProvider.start();
      provider.answers(strict.behaviour);
      const service = await startGateway({
        providers: { p: { kind, baseUrl: provider.baseUrl, apiKeyEnv: 'PROVIDER_KEY' } },
        models: { m: { targets: [{ provider: 'p', model: 'up' }] } },
      });
      try {
        const answer = await post(service, '/v1/responses', { model: 'm', store: false, input, tools });
        assert.deepEqual([answer.status, strict.refusals], [200, []]);
        const alone = { model: 'm', store: false, input: input.slice(0, 2), tools };
        assert.equal((await post(service, '/v1/responses', alone)).status, 400);
        assert.equal(strict.refusals.length, 1);
      } finally {
        await service.stop();
        await provider.stop();
      }
    });
});

describe('blank texts', () => {
  const blank = { role: 'user', content: ' ' };

  it('given blank texts everywhere when they are sent to Anthropic then they are left out', async () => {
    const messages = [
      { role: 'system', content: '\n' },
      ...hi,
      { ...called('a'), content: ' ' },
      { ...tool('a'), content: '' },
      {
        role: 'user',
        content: [
          { type: 'text', text: '' },
          { type: 'text', text: 'go' },
        ],
      },
      { role: 'assistant', content: '' },
      blank,
    ];
    const { sent } = await sentTo(anthropic, openAiChat.name, { messages, tools: [look] });
    assert.equal(sent.system, undefined);
    assert.deepEqual(
      messagesIn(sent).map(({ role }) => role),
      ['user', 'assistant', 'user'],
    );
  });

  it('given an answer that ends with a space when Anthropic continues it then it ends without', async () => {
    const messages = [...hi, { role: 'assistant', content: 'It is \n' }];
    const { sent } = await sentTo(anthropic, openAiChat.name, { messages });
    assert.deepEqual(messagesIn(sent).at(-1)?.content, [{ type: 'text', text: 'It is' }]);
  });

  const ok = { role: 'assistant', content: 'ok' };
  for (const [what, content] of [
    ['a blank text', ' '],
    ['no part', []],
    [
      'blank parts',
      [
        { type: 'text', text: '' },
        { type: 'text', text: '\n' },
      ],
    ],
  ] as const)
    it(`given a message of the user with ${what} then it is not left out`, async () => {
      for (const before of [[], [...hi, ok]]) {
        const messages = [...before, { role: 'user', content }];
        const toAnthropic = await sentTo(anthropic, openAiChat.name, { messages });
        assert.deepEqual(messagesIn(toAnthropic.sent).at(-1), { role: 'user', content: [{ type: 'text', text: '.' }] });
        const toChat = await sentTo(chat, openAiChat.name, { messages });
        assert.deepEqual([toChat.sent.messages, toChat.ignored], [messages, []]);
      }
    });

  it('given blank messages of others than the user when they are sent to a chat then they are left out', async () => {
    const input = [...hi, { role: 'assistant', content: ' ' }, { role: 'developer', content: '' }];
    const { sent } = await sentTo(chat, openAiResponses.name, { input });
    assert.deepEqual(sent.messages, hi);
  });

  it('given a blank text next to the result of a tool when it is sent to a chat then it is left out', async () => {
    const { sent } = await sentTo(chat, openAiChat.name, { messages: [...hi, called('a'), tool('a'), blank] });
    assert.deepEqual(sent.messages, [...hi, called('a'), tool('a')]);
  });
});

describe('messages', () => {
  it('given an assistant that speaks first when it is sent to Anthropic then the user’s message is the first', async () => {
    const { sent } = await sentTo(anthropic, openAiChat.name, {
      messages: [{ role: 'system', content: 'Be kind.' }, { role: 'assistant', content: 'Hello!' }, ...hi],
    });
    assert.deepEqual(
      messagesIn(sent).map(({ role }) => role),
      ['user', 'assistant', 'user'],
    );
  });

  it('given texts of the system alone when they are sent to Anthropic then they are the user’s', async () => {
    const { sent } = await sentTo(anthropic, openAiResponses.name, { instructions: 'Say hi.', input: [] });
    assert.deepEqual(
      [sent.system, sent.messages],
      [undefined, [{ role: 'user', content: [{ type: 'text', text: 'Say hi.' }] }]],
    );
  });
});

describe('what another provider needs back with a call', () => {
  for (const target of [anthropic, chat])
    it(`given it in the id of a call when it is sent to ${target.protocol.name} then it is left out and named`, async () => {
      const id = idWithState('a', { of: 'google/gemini-x', value: '{}', isRedacted: true });
      const messages = [...hi, called(id), { ...tool(id), content: 'ok' }];
      const { sent, ignored } = await sentTo(target, openAiChat.name, { messages, tools: [look] });
      assert.doesNotMatch(JSON.stringify(sent), /~/);
      assert.deepEqual(ignored, ['/messages/1/tool_calls/0']);
    });
});

describe('a thought that nothing follows', () => {
  const signature = signatureOf('hm');
  const mark = signatureTextOf({ of: anthropicMessages.name, value: signature, isRedacted: false });
  const thought = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: mark };
  const answer = { role: 'assistant', content: 'Hello.' };
  const written = { role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] };
  const details = [{ type: 'reasoning.text', provider: anthropicMessages.name, text: 'hm', signature }];
  const cutOff = { role: 'assistant', content: '', reasoning_details: details };
  for (const [what, from, body, assistants] of [
    ['alone', openAiResponses.name, { input: [...hi, thought, ...hi] }, []],
    ['after an answer', openAiResponses.name, { input: [...hi, answer, thought, ...hi] }, [written]],
    ['at the end', openAiResponses.name, { input: [...hi, answer, thought] }, [written]],
    ['of a chat that was cut off', openAiChat.name, { messages: [...hi, cutOff, ...hi] }, []],
  ] as const)
    it(`given it ${what} when it is sent to Anthropic then it is left out and named`, async () => {
      const { sent, ignored } = await sentTo(anthropic, from, body);
      assert.deepEqual(
        messagesIn(sent).filter(({ role }) => role === 'assistant'),
        assistants,
      );
      assert.equal(ignored.length, 1);
    });
});

describe('tools', () => {
  const wrong = [null, {}, undefined, { type: 'object' }, { properties: { a: {} } }, { $schema: 'x' }];
  for (const target of [anthropic, chat])
    it(`given schemas that lack something when they are sent to ${target.protocol.name} then the provider takes them`, async () => {
      const tools = wrong.map((parameters, index) => ({ type: 'function', name: `t${index}`, parameters }));
      const { sent } = await sentTo(target, openAiResponses.name, { input: 'hi', tools });
      assert.equal(listOf(sent.tools).length, wrong.length);
      assert.ok(JSON.stringify(sent.tools).includes('"properties":{"a":{}}'));
    });

  it('given schemas whose members are null when they are sent to a provider then the members count as missing', async () => {
    const schemas = [
      { type: 'object', properties: null },
      { type: null },
      { type: null, required: null, properties: { a: { const: null } } },
      { properties: null, required: null, additionalProperties: false },
    ];
    const tools = schemas.map((parameters, index) => ({ type: 'function', name: `t${index}`, parameters }));
    const toAnthropic = await sentTo(anthropic, openAiResponses.name, { input: 'hi', tools });
    assert.deepEqual(
      listOf(toAnthropic.sent.tools).map(({ input_schema: schema }) => schema),
      [
        { type: 'object', properties: {} },
        { type: 'object' },
        { type: 'object', properties: { a: { const: null } } },
        { type: 'object', properties: {}, additionalProperties: false },
      ],
    );
    const toChat = await sentTo(chat, openAiResponses.name, { input: 'hi', tools });
    assert.deepEqual(
      listOf(toChat.sent.tools).map(({ function: declared }) => isObject(declared) && declared.parameters),
      [
        { type: 'object', properties: {} },
        { type: 'object', properties: {} },
        { type: 'object', properties: { a: { const: null } } },
        { type: 'object', properties: {}, additionalProperties: false },
      ],
    );
  });

  for (const schema of [{}, null])
    it(`given the schema ${JSON.stringify(schema)} for an answer when it is sent to a provider then any JSON is asked for`, async () => {
      const body = { input: 'hi', text: { format: { type: 'json_schema', name: 'n', schema } } };
      assert.equal((await sentTo(anthropic, openAiResponses.name, body)).refused, '/text/format');
      assert.deepEqual((await sentTo(chat, openAiResponses.name, body)).sent.response_format, { type: 'json_object' });
    });

  it('given a name twice when it is sent to Anthropic then the last tool counts and the other is named', async () => {
    const { sent, ignored } = await sentTo(anthropic, openAiChat.name, {
      messages: hi,
      tools: [look, { type: 'function', function: { name: 'look', description: 'newer' } }],
    });
    assert.deepEqual(
      [listOf(sent.tools).map(({ description }) => description), ignored],
      [['newer'], ['/tools/0/function']],
    );
  });
});

describe('tuning', () => {
  for (const [given, from, target, members, expected, named] of [
    ['a blank stop', openAiChat.name, anthropic, { stop: ['\n', 'END', ''] }, { stop_sequences: ['END'] }, ['/stop/0']],
    ['blank stops alone', openAiChat.name, anthropic, { stop: ' ' }, { stop_sequences: undefined }, ['/stop']],
    [
      ...(['five stops', anthropicMessages.name, chat] as const),
      { stop_sequences: ['a', 'b', 'c', 'd', 'e'] },
      { stop: ['a', 'b', 'c', 'd'] },
      ['/stop_sequences/4'],
    ],
    [
      ...(['temperature and top_p', openAiChat.name, anthropic] as const),
      { temperature: 0.5, top_p: 0.9 },
      { temperature: 0.5, top_p: 0.9 },
      [],
    ],
    [
      ...(['a temperature above 1 and top_p', openAiChat.name, anthropic] as const),
      { temperature: 1.5, top_p: 0.9 },
      { temperature: 1, top_p: 0.9 },
      ['/temperature'],
    ],
    [
      ...(['the temperature 1 and an effort', openAiChat.name, anthropic] as const),
      { reasoning_effort: 'low', max_tokens: 9_000, temperature: 1 },
      { thinking: { type: 'enabled', budget_tokens: 4_096 }, temperature: undefined },
      [],
    ],
    [
      ...(['another temperature and an effort', openAiChat.name, anthropic] as const),
      { reasoning_effort: 'low', max_tokens: 9_000, temperature: 0.5 },
      { thinking: { type: 'enabled', budget_tokens: 4_096 }, temperature: undefined },
      ['/temperature'],
    ],
    [
      ...(['a low top_p and an effort', openAiChat.name, anthropic] as const),
      { reasoning_effort: 'low', max_tokens: 9_000, top_p: 0.9 },
      { thinking: { type: 'enabled', budget_tokens: 4_096 }, top_p: undefined },
      ['/top_p'],
    ],
  ] as const)
    it(`given ${given} when it is sent to ${target.protocol.name} then the provider takes it and what is left out is named`, async () => {
      const body = { messages: hi, ...(from === anthropicMessages.name ? { max_tokens: 9 } : {}), ...members };
      const { sent, ignored } = await sentTo(target, from, body, { thinking: 'budget' });
      assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, sent[name]])), expected);
      assert.deepEqual(ignored, named);
    });
});

describe('an effort that not every model takes', () => {
  for (const effort of ['xhigh', 'max'])
    for (const [from, body, pointer] of [
      [openAiChat.name, { messages: hi, reasoning_effort: effort }, '/reasoning_effort'],
      [openAiResponses.name, { input: 'hi', reasoning: { effort } }, '/reasoning/effort'],
      [
        anthropicMessages.name,
        { messages: hi, max_tokens: 9_000, thinking: { type: 'adaptive' }, output_config: { effort } },
        '/output_config/effort',
      ],
    ] as const)
      it(`given "${effort}" of ${from} when it is sent to another protocol then it is "high" and named`, async () => {
        const toChat = await sentTo(chat, from, body, { reasoning: true });
        assert.deepEqual([toChat.sent.reasoning_effort, toChat.ignored], ['high', [pointer]]);
        const toAnthropic = await sentTo(anthropic, from, body, { thinking: 'adaptive' });
        assert.deepEqual([toAnthropic.sent.output_config, toAnthropic.ignored], [{ effort: 'high' }, [pointer]]);
      });

  it('given an unknown one when it is sent to another protocol then it is "medium" and named', async () => {
    const body = { messages: hi, reasoning_effort: 'enormous' };
    const { sent, ignored } = await sentTo(chat, openAiChat.name, body, { reasoning: true });
    assert.deepEqual([sent.reasoning_effort, ignored], ['medium', ['/reasoning_effort']]);
  });
});

describe('files', () => {
  const png = 'iVBORw0KGgoAAAANSUhEUg==';
  const data = (text: string, type: string) => `data:${type};base64,${Buffer.from(text).toString('base64')}`;

  it('given pictures in the forms that clients send when they are sent to Anthropic then it takes them', async () => {
    const urls = [png, `data:image/jpg;base64,${png}`, `data:image/PNG;name=a;base64,${png}`, data('GIF89a', 'image')];
    const content = urls.map((url) => ({ type: 'image_url', image_url: { url } }));
    const { sent } = await sentTo(anthropic, openAiChat.name, { messages: [{ role: 'user', content }] });
    const blocks = listOf(messagesIn(sent)[0]?.content);
    assert.deepEqual(
      blocks.map(({ source }) => isObject(source) && source.media_type),
      ['image/png', 'image/png', 'image/png', 'image/gif'],
    );
  });

  it('given plain texts as files when they are sent to another protocol then they are texts', async () => {
    const files = [
      data('# Notes', 'text/markdown'),
      data('a,b', 'text/csv; charset=utf-8'),
      data('{}', 'application/json'),
      'data:,bare',
      Buffer.from('no type').toString('base64'),
    ];
    const content = files.map((file) => ({ type: 'input_file', filename: 'notes', file_data: file }));
    const body = { input: [{ role: 'user', content }] };
    const texts = ['# Notes', 'a,b', '{}', 'bare', 'no type'];
    const toAnthropic = listOf(messagesIn((await sentTo(anthropic, openAiResponses.name, body)).sent)[0]?.content);
    assert.deepEqual(
      toAnthropic.map(({ source }) => source),
      texts.map((text) => ({ type: 'text', media_type: 'text/plain', data: text })),
    );
    const toChat = listOf(messagesIn((await sentTo(chat, openAiResponses.name, body)).sent)[0]?.content);
    assert.deepEqual(
      toChat,
      texts.map((text) => ({ type: 'text', text })),
    );
  });
});

describe('the limit of tokens', () => {
  for (const maxTokens of ['max_tokens', 'max_completion_tokens'] as const)
    it(`given ${maxTokens} in the configuration when a chat is written then it has this member`, async () => {
      const body = { input: 'hi', max_output_tokens: 50 };
      const { sent } = await sentTo(chat, openAiResponses.name, body, { maxTokens });
      const { max_tokens: old, max_completion_tokens: current } = sent;
      assert.deepEqual([old, current], maxTokens === 'max_tokens' ? [50, undefined] : [undefined, 50]);
    });
});
