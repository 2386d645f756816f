import assert from 'node:assert/strict';
import { FakeProvider } from '#test/gateway/support/fake-provider.ts';
import { strictChat } from '#test/gateway/support/strict-chat.ts';
import { signatureOf, strictMessages } from '#test/gateway/support/strict-messages.ts';
import type { StrictProvider } from '#test/gateway/support/strict-provider.ts';

const hi = [{ role: 'user', content: 'hi' }];
const user = (...content: ReadonlyArray<object>) => [{ role: 'user', content }];
const functionNamed = (name: unknown) => ({ type: 'function', function: { name } });
const calledWith = (id: string) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 't', arguments: '{}' } }],
});
const called = { role: 'assistant', content: null, tool_calls: [{ id: 'a', ...functionNamed('t') }] };
const callOf = (call: object) => [
  { role: 'user', content: 'hi' },
  { role: 'assistant', content: null, tool_calls: [call] },
];
const result = { role: 'tool', tool_call_id: 'a', content: 'ok' };

/** Requests that OpenAI refuses, as members that replace those of a valid one. */
const wrongChats: ReadonlyArray<object> = [
  { model: undefined },
  { model: '' },
  { model: 5 },
  { messages: [] },
  { messages: undefined },
  { messages: [{ role: 'robot', content: 'x' }] },
  { messages: [{ role: 'user', content: 'x', reasoning_content: 'y' }] },
  { messages: [{ role: 'user', content: 'x', cache_control: {} }] },
  { messages: [{ role: 'user' }] },
  { messages: [{ role: 'assistant', content: null }] },
  { messages: user({ type: 'document' }) },
  { messages: user({ type: 'image_url', image_url: 'x' }) },
  { messages: user({ type: 'image_url', image_url: { url: 'ftp://x' } }) },
  { messages: user({ type: 'file', file: {} }) },
  { messages: [called] },
  { messages: [result] },
  { messages: [...hi, called, ...hi, result] },
  { messages: callOf({ id: 'a', type: 'function', function: { name: 't', arguments: {} } }) },
  { messages: [...hi, { role: 'tool', tool_call_id: 'a', content: [{ type: 'image_url' }] }] },
  { temperature: 3 },
  { temperature: -1 },
  { top_p: 2 },
  { n: 0 },
  { max_tokens: 0 },
  { max_tokens: 5, max_completion_tokens: 5 },
  { stop: ['a', 'b', 'c', 'd', 'e'] },
  { stream_options: { include_usage: true } },
  { stream: 'yes' },
  { reasoning_effort: 'enormous' },
  { tools: [] },
  { tools: [functionNamed('a b')] },
  { tools: [{ type: 'function' }] },
  ...[{}, { type: 'object' }, { properties: {} }, null].map((parameters) => ({
    tools: [{ type: 'function', function: { name: 'a', parameters } }],
  })),
  { messages: [...hi, calledWith('a'.repeat(41)), { ...result, tool_call_id: 'a'.repeat(41) }] },
  { tool_choice: 'auto' },
  { tools: [functionNamed('a')], tool_choice: 'sometimes' },
  { parallel_tool_calls: false },
  { response_format: { type: 'xml' } },
  { response_format: { type: 'json_schema', json_schema: {} } },
  { top_k: 5 },
  { thinking: {} },
  { system: 'x' },
];

const toolUse = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 't', input: {} }] };
const answered = user({ type: 'tool_result', tool_use_id: 'a' });
const blocks = (messages: typeof answered) => messages.flatMap(({ content }) => content);
const toolOf = (members: object) => [{ name: 't', input_schema: { type: 'object' }, ...members }];
const thinks = { thinking: { type: 'enabled', budget_tokens: 1_024 }, max_tokens: 4_000 };

const cached = { type: 'ephemeral' };
const hour = { ...cached, ttl: '1h' };

/** Requests that Anthropic refuses, as members that replace those of a valid one. */
const wrongMessages: ReadonlyArray<object> = [
  { model: undefined },
  { model: '' },
  { max_tokens: undefined },
  { max_tokens: 0 },
  { max_tokens: 1.5 },
  { messages: [] },
  { messages: [{ role: 'system', content: 'x' }] },
  { messages: [{ role: 'user', content: '' }] },
  { messages: [{ role: 'user', content: [] }] },
  { messages: [{ role: 'user', content: 'x', name: 'y' }] },
  { messages: user({ type: 'text', text: '' }) },
  { messages: user({ type: 'text', text: ' \n' }) },
  { messages: [{ role: 'assistant', content: 'Hello' }, ...hi] },
  { messages: [...hi, { role: 'assistant', content: 'Hello ' }] },
  { messages: [...hi, toolUse, ...answered, toolUse, ...answered], tools: toolOf({}) },
  { messages: [...hi, toolUse, ...user(...blocks(answered), ...blocks(answered))], tools: toolOf({}) },
  { system: [{ type: 'text', text: ' ' }] },
  { messages: user({ type: 'image_url' }) },
  { messages: user({ type: 'image' }) },
  { messages: user({ type: 'image', source: { type: 'base64', media_type: 'image/tiff', data: 'AAAA' } }) },
  { messages: user({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: '!' } }) },
  { messages: user({ type: 'image', source: { type: 'url', url: 'http://x' } }) },
  { messages: user({ type: 'document', source: { type: 'base64', media_type: 'text/html', data: 'AAAA' } }) },
  { messages: [...hi, { role: 'assistant', content: [{ type: 'thinking', thinking: 'x', signature: '' }] }] },
  { messages: [...hi, toolUse], tools: toolOf({}) },
  { messages: [...hi, toolUse, ...user({ type: 'tool_result', tool_use_id: 'a' })] },
  { messages: user({ type: 'tool_result', tool_use_id: 'a' }), tools: toolOf({}) },
  { messages: user({ type: 'tool_result', tool_use_id: 'a.b' }) },
  {
    messages: [...hi, toolUse, ...user({ type: 'text', text: 'x' }, { type: 'tool_result', tool_use_id: 'a' })],
    tools: toolOf({}),
  },
  { system: [{ type: 'text', text: '' }] },
  { temperature: 1.5 },
  { top_p: 2 },
  { stop_sequences: [' '] },
  { stream: 'yes' },
  { tools: toolOf({ name: 'a b' }) },
  { tools: toolOf({ input_schema: {} }) },
  { tools: [...toolOf({}), ...toolOf({})] },
  { tool_choice: 'auto' },
  { thinking: { type: 'enabled', budget_tokens: 100 } },
  { thinking: { type: 'enabled', budget_tokens: 5_000 }, max_tokens: 4_000 },
  { ...thinks, temperature: 0.5 },
  { ...thinks, top_k: 5 },
  { ...thinks, top_p: 0.9 },
  { ...thinks, tools: toolOf({}), tool_choice: { type: 'any' } },
  { ...thinks, tools: toolOf({}), messages: [...hi, toolUse, ...user({ type: 'tool_result', tool_use_id: 'a' })] },
  { messages: user({ type: 'text', text: 'x', cache_control: { type: 'persistent' } }) },
  { messages: user({ type: 'text', text: 'x', cache_control: { ...cached, scope: 'global' } }) },
  { messages: user(...Array.from({ length: 5 }, () => ({ type: 'text', text: 'x', cache_control: cached }))) },
  {
    messages: user(...Array.from({ length: 4 }, () => ({ type: 'text', text: 'x', cache_control: cached }))),
    cache_control: cached,
  },
  { messages: user({ type: 'text', text: 'x', cache_control: hour }), tools: toolOf({ cache_control: cached }) },
  {
    messages: [
      ...hi,
      {
        role: 'assistant',
        content: [{ type: 'thinking', thinking: 'x', signature: signatureOf('x'), cache_control: cached }],
      },
    ],
  },
  { n: 2 },
  { stream_options: {} },
  { response_format: {} },
  { frequency_penalty: 1 },
];

const cases: ReadonlyArray<readonly [string, StrictProvider, object, ReadonlyArray<object>]> = [
  ['chats', strictChat(), { authorization: 'Bearer k' }, wrongChats],
  ['Messages', strictMessages(), { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' }, wrongMessages],
];

for (const [what, strict, headers, wrong] of cases)
  describe(`the strict provider of ${what}`, () => {
    let provider: FakeProvider;

    before(async () => {
      provider = await FakeProvider.start();
      provider.answers(strict.behaviour);
    });
    after(() => provider.stop());

    const send = (members: object) =>
      fetch(provider.baseUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ model: 'm', messages: hi, ...(what === 'chats' ? {} : { max_tokens: 10 }), ...members }),
      });

    it('takes a correct request', async () => {
      assert.equal((await send({})).status, 200);
    });

    it(`refuses what its reference refuses, in ${wrong.length} requests`, async () => {
      for (const members of wrong) assert.equal((await send(members)).status, 400, JSON.stringify(members));
      assert.ok(strict.rules.every(({ page }) => page.startsWith('https://')));
    });
  });
