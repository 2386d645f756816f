import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { anthropicMessages } from '#gateway/protocols/anthropic-messages/anthropic-messages.ts';
import { idWithState } from '#gateway/protocols/call-state.ts';
import { openAiChat } from '#gateway/protocols/openai-chat/openai-chat.ts';
import { writeResponses } from '#gateway/protocols/openai-responses/write-responses.ts';
import type { TextProtocol } from '#gateway/protocols/protocol.ts';
import type { TargetModel } from '#gateway/protocols/target-model.ts';
import { plainTarget } from '#test/gateway/support/plain-target.ts';
import { type Body, firstFault, isObject, listOf } from '#test/gateway/support/strict-provider.ts';
import { responsesRules } from '#test/gateway/support/strict-responses.ts';

const thinking: TargetModel = { ...plainTarget, reasoning: true };

/** What a strict provider gets, and what is named as left out. */
async function sent(
  { client }: TextProtocol,
  body: object,
  target = plainTarget,
): Promise<[Body, ReadonlyArray<string>]> {
  const read = await client.read(Buffer.from(JSON.stringify({ model: 'a', max_tokens: 100, ...body })), 10_000);
  assert.ok(E.isRight(read), JSON.stringify(read));
  const parsed = await read.right.parse(10_000);
  assert.ok(E.isRight(parsed), JSON.stringify(parsed));
  const written = writeResponses(parsed.right.conversation, target);
  assert.ok(E.isRight(written), JSON.stringify(written));
  const value: unknown = JSON.parse(written.right.body.toString());
  assert.ok(isObject(value));
  assert.equal(firstFault(responsesRules('enc'), value, { authorization: 'Bearer k' }), null);
  return [value, [...parsed.right.ignored, ...written.right.ignored]];
}

const hi = [{ role: 'user', content: 'hi' }];
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAX+XDSwAAAABJRU5ErkJggg==';
const look = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } };
const called = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
const gemini = { of: 'google/gemini-x', value: '{}', isRedacted: true };
const detail = (provider: string) => ({ type: 'reasoning.text', provider, text: 'Hm.', signature: 'enc-1' });

describe('a request of Responses for a client of another protocol', () => {
  it('stores nothing, and asks for the opaque reasoning of a model that thinks alone', async () => {
    const [plain] = await sent(openAiChat, { messages: hi });
    const [thinks] = await sent(openAiChat, { messages: hi }, thinking);
    assert.deepEqual([plain.store, plain.include, plain.reasoning], [false, undefined, undefined]);
    assert.deepEqual(
      [thinks.store, thinks.include, thinks.reasoning],
      [false, ['reasoning.encrypted_content'], undefined],
    );
  });

  it('asks a model that thinks for the summary that its client shows, with an effort that newer models take', async () => {
    for (const [effort, asked] of [
      ['low', { effort: 'low', summary: 'auto' }],
      ['minimal', { effort: 'low', summary: 'auto' }],
      ['none', { effort: 'none' }],
    ])
      assert.deepEqual(
        (await sent(openAiChat, { messages: hi, reasoning_effort: effort }, thinking))[0].reasoning,
        asked,
      );
    const [body, ignored] = await sent(openAiChat, { messages: hi, reasoning_effort: 'low' });
    assert.deepEqual([body.reasoning, ignored], [undefined, ['/reasoning_effort']]);
  });

  it('has no temperature for a model that thinks, unless it is asked not to', async () => {
    const tuned = { messages: hi, temperature: 0.2, top_p: 1 };
    assert.deepEqual((await sent(openAiChat, tuned))[0].temperature, 0.2);
    const [body, ignored] = await sent(openAiChat, { ...tuned, reasoning_effort: 'low' }, thinking);
    assert.deepEqual([body.temperature, body.top_p, ignored], [undefined, undefined, ['/temperature']]);
    assert.equal((await sent(openAiChat, { ...tuned, reasoning_effort: 'none' }, thinking))[0].temperature, 0.2);
  });

  it('says that a function is not strict, which it would be without a word', async () => {
    const strict = { ...look, function: { ...look.function, strict: true } };
    const bare = { type: 'function', function: { name: 'bare' } };
    const [{ tools }] = await sent(openAiChat, { messages: hi, tools: [look, strict, bare] });
    assert.deepEqual(
      listOf(tools).map(({ name, strict: isStrict, parameters }) => [name, isStrict, parameters]),
      [
        ['look', false, look.function.parameters],
        ['look', true, look.function.parameters],
        ['bare', false, look.function.parameters],
      ],
    );
  });

  it('gives reasoning back to the provider that made it, before the call that followed it', async () => {
    const messages = [
      ...hi,
      { role: 'assistant', content: null, tool_calls: [called], reasoning_details: [detail(thinking.provider)] },
      { role: 'tool', tool_call_id: 'call_1', content: 'ok' },
    ];
    const [{ input }, ignored] = await sent(openAiChat, { messages, tools: [look] }, thinking);
    assert.deepEqual(listOf(input).slice(1), [
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'enc-1' },
      { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'ok' },
    ]);
    assert.deepEqual(ignored, []);
  });

  it('leaves out and names reasoning of another provider, and reasoning that nothing follows', async () => {
    const answered = (details: object, content: string) => [
      ...hi,
      { role: 'assistant', content, reasoning_details: [details] },
      ...hi,
    ];
    for (const messages of [answered(detail('other'), 'Hello.'), answered(detail(thinking.provider), ' ')]) {
      const [{ input }, ignored] = await sent(openAiChat, { messages }, thinking);
      assert.deepEqual([listOf(input).filter(({ type }) => type === 'reasoning'), ignored.length], [[], 1]);
    }
  });

  it('has images and documents in the result of a tool', async () => {
    const source = { type: 'base64', media_type: 'image/png', data: png };
    const content = [
      { type: 'text', text: 'Here:' },
      { type: 'image', source },
    ];
    const messages = [
      ...hi,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content, is_error: true }] },
    ];
    const [{ input }, ignored] = await sent(anthropicMessages, {
      messages,
      tools: [{ name: 'look', input_schema: {} }],
    });
    assert.deepEqual(listOf(input).at(-1)?.output, [
      { type: 'input_text', text: 'Here:' },
      { type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'auto' },
    ]);
    assert.deepEqual(ignored, ['/messages/2/content/0/is_error']);
  });

  it('names what Responses does not have: stops and top_k', async () => {
    const [, ignored] = await sent(anthropicMessages, { messages: hi, stop_sequences: ['END'], top_k: 5 });
    assert.deepEqual(ignored.toSorted(), ['/stop_sequences/0', '/top_k']);
  });

  it('names the marks of a cache, and what another provider needs back with a call', async () => {
    const cache_control = { type: 'ephemeral' };
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'hi', cache_control }] },
      { role: 'assistant', content: null, tool_calls: [{ ...called, id: idWithState('call_1', gemini) }] },
      { role: 'tool', tool_call_id: idWithState('call_1', gemini), content: 'ok' },
    ];
    const [{ input }, ignored] = await sent(openAiChat, { messages, tools: [look] });
    assert.deepEqual(
      listOf(input).flatMap(({ call_id: id }) => id ?? []),
      ['call_1', 'call_1'],
    );
    assert.deepEqual(ignored.toSorted(), ['/messages/0/content/0/cache_control', '/messages/1/tool_calls/0']);
  });

  it('asks for 16 tokens at least, because OpenAI refuses fewer', async () => {
    const [{ max_output_tokens: max }] = await sent(anthropicMessages, { messages: hi, max_tokens: 1 });
    assert.equal(max, 16);
  });

  it('has the system as its input if nobody else says anything', async () => {
    const [{ input, instructions }] = await sent(openAiChat, { messages: [{ role: 'system', content: 'Go.' }] });
    assert.deepEqual([input, instructions], [[{ type: 'message', role: 'system', content: 'Go.' }], undefined]);
  });

  it('has the system as a developer in its input for any JSON, because OpenAI looks there alone for the word', async () => {
    const response_format = { type: 'json_object' };
    const system = { role: 'system', content: 'Answer in JSON.' };
    const developer = { type: 'message', role: 'developer', content: 'Answer in JSON.' };
    const said = { type: 'message', role: 'user', content: 'hi' };
    for (const [messages, expected] of [
      [
        [system, ...hi],
        [developer, said],
      ],
      [
        [...hi, system],
        [said, developer],
      ],
      [[system], [developer]],
    ]) {
      const [{ input, instructions }] = await sent(openAiChat, { messages, response_format });
      assert.deepEqual([input, instructions], [expected, undefined]);
    }
  });

  it('asks for a schema of Messages as a strict one only if OpenAI takes it so', async () => {
    const day = { type: 'string' };
    for (const required of [['day'], []]) {
      const schema = { type: 'object', properties: { day }, required, additionalProperties: false };
      const output_config = { format: { type: 'json_schema', schema } };
      const [{ text }] = await sent(anthropicMessages, { messages: hi, output_config });
      const strict = required.length > 0;
      assert.deepEqual(text, { format: { type: 'json_schema', name: 'answer', schema, strict } });
    }
  });

  it('forces a tool, allows one at a time, and asks for a schema as the client does', async () => {
    const json_schema = { name: 'hours', schema: { type: 'object' }, strict: true };
    const [body] = await sent(openAiChat, {
      ...{ messages: hi, tools: [look], parallel_tool_calls: false },
      ...{ tool_choice: { type: 'function', function: { name: 'look' } } },
      ...{ response_format: { type: 'json_schema', json_schema }, stream: true },
    });
    assert.deepEqual(
      [body.tool_choice, body.parallel_tool_calls, body.text, body.stream],
      [{ type: 'function', name: 'look' }, false, { format: { type: 'json_schema', ...json_schema } }, true],
    );
  });
});
