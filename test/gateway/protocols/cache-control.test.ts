import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { anthropicMessages } from '#gateway/protocols/anthropic-messages/anthropic-messages.ts';
import { openAiChat } from '#gateway/protocols/openai-chat/openai-chat.ts';
import { openAiResponses } from '#gateway/protocols/openai-responses/openai-responses.ts';
import type { ClientProtocol, ProviderProtocol } from '#gateway/protocols/protocol.ts';
import { plainTarget } from '#test/gateway/support/plain-target.ts';
import { messagesRules, signatureOf } from '#test/gateway/support/strict-messages.ts';
import { isObject } from '#test/gateway/support/strict-provider.ts';

const mark = { type: 'ephemeral' };
const hour = { type: 'ephemeral', ttl: '1h' };
const cached = { cache_control: mark };
const png = 'data:image/png;base64,iVBORw0KGgo=';
const pdf = Buffer.from('%PDF-1.4').toString('base64');
const parameters = { type: 'object', properties: {} };
const functionTool = { type: 'function', name: 't', parameters };
const named = (name: string, more: object = {}) => ({ type: 'function', function: { name, parameters }, ...more });
const text = (said: string, more: object = {}) => ({ type: 'text', text: said, ...more });
const called = (more: object = {}) => ({
  id: 'a',
  type: 'function',
  function: { name: 't', arguments: '{}' },
  ...more,
});
const user = { role: 'user', content: 'hi' };

/** A request that was written for a target, and what is named of it. */
interface Sent {
  readonly body: Record<string, unknown>;
  readonly ignored: ReadonlyArray<string>;
}

/** Sends a request of one protocol to a target of another one. */
async function send({ client }: ClientProtocol, { provider }: ProviderProtocol, body: object): Promise<Sent> {
  const bytes = Buffer.from(JSON.stringify({ model: 'm', max_tokens: 9, ...body }));
  const read = await client.read(bytes, 1_000_000);
  assert.ok(E.isRight(read), JSON.stringify(read));
  const parsed = await read.right.parse(1_000_000);
  assert.ok(E.isRight(parsed), JSON.stringify(parsed));
  const written = provider.write(parsed.right.conversation, plainTarget);
  assert.ok(E.isRight(written), JSON.stringify(written));
  const sent = JSON.parse(written.right.body.toString());
  if (provider === anthropicMessages.provider) assertTaken(sent);
  const ignored = [...parsed.right.ignored, ...written.right.ignored].filter((place) => place !== '/max_tokens');
  return { body: sent, ignored };
}

const headers = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' };

function assertTaken(body: unknown): void {
  assert.ok(isObject(body));
  const faults = messagesRules.map(({ refuses }) => refuses(body, headers)).filter((fault) => fault !== null);
  assert.deepEqual(faults, [], 'Anthropic takes it');
}

/** The places of a request that ask for the cache, with the time. */
function pointsIn(value: unknown, place = ''): ReadonlyArray<string> {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => {
    if (name !== 'cache_control') return pointsIn(each, `${place}/${name}`);
    assert.equal((each as typeof hour).type, 'ephemeral');
    return [`${place} ${(each as typeof hour).ttl ?? '5m'}`];
  });
}

/** Where a client can ask for the cache, and where Anthropic is asked for it. */
const places: ReadonlyArray<readonly [string, ClientProtocol, object, ReadonlyArray<string>]> = [
  [
    'a text of the system',
    openAiChat,
    { messages: [{ role: 'system', content: [text('s', cached)] }, user] },
    ['/system/0 5m'],
  ],
  [
    'a text of a developer',
    openAiChat,
    { messages: [{ role: 'developer', content: [text('s', cached)] }, user] },
    ['/system/0 5m'],
  ],
  [
    'a message of the system',
    openAiChat,
    { messages: [{ role: 'system', content: 's', ...cached }, user] },
    ['/system/0 5m'],
  ],
  [
    'the first of two texts',
    openAiChat,
    { messages: [{ role: 'user', content: [text('a', cached), text('b')] }] },
    ['/messages/0/content/0 5m'],
  ],
  [
    'an image',
    openAiChat,
    { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: png }, ...cached }] }] },
    ['/messages/0/content/0 5m'],
  ],
  [
    'a file',
    openAiChat,
    {
      messages: [
        {
          role: 'user',
          content: [{ type: 'file', file: { file_data: `data:application/pdf;base64,${pdf}` }, cache_control: hour }],
        },
      ],
    },
    ['/messages/0/content/0 1h'],
  ],
  [
    'a message of the user, which means its last part',
    openAiChat,
    { messages: [{ role: 'user', content: [text('a'), text('b')], ...cached }] },
    ['/messages/0/content/1 5m'],
  ],
  [
    'a message and its last part alike',
    openAiChat,
    { messages: [{ role: 'user', content: [text('a', cached)], ...cached }] },
    ['/messages/0/content/0 5m'],
  ],
  [
    'a text of the assistant',
    openAiChat,
    { messages: [user, { role: 'assistant', content: [text('a', cached)] }, user] },
    ['/messages/1/content/0 5m'],
  ],
  [
    'a message of the assistant, which ends with its call',
    openAiChat,
    {
      messages: [
        user,
        { role: 'assistant', content: 'a', tool_calls: [called()], ...cached },
        { role: 'tool', tool_call_id: 'a', content: 'ok' },
      ],
    },
    ['/messages/1/content/1 5m'],
  ],
  [
    'a call of a tool',
    openAiChat,
    {
      messages: [
        user,
        { role: 'assistant', content: null, tool_calls: [called(cached)] },
        { role: 'tool', tool_call_id: 'a', content: 'ok' },
      ],
    },
    ['/messages/1/content/0 5m'],
  ],
  [
    'a message of a tool',
    openAiChat,
    {
      messages: [
        user,
        { role: 'assistant', content: null, tool_calls: [called()] },
        { role: 'tool', tool_call_id: 'a', content: 'ok', ...cached },
      ],
    },
    ['/messages/2/content/0 5m'],
  ],
  [
    'a text of a tool, whose result is one block',
    openAiChat,
    {
      messages: [
        user,
        { role: 'assistant', content: null, tool_calls: [called()] },
        { role: 'tool', tool_call_id: 'a', content: [text('ok', cached), text('!')] },
      ],
    },
    ['/messages/2/content/0 5m'],
  ],
  ['a tool', openAiChat, { messages: [user], tools: [named('a'), named('b', cached)] }, ['/tools/1 5m']],
  [
    'the function of a tool',
    openAiChat,
    { messages: [user], tools: [{ type: 'function', function: { name: 'a', parameters, cache_control: hour } }] },
    ['/tools/0 1h'],
  ],
  [
    'a tool that takes a text',
    openAiChat,
    { messages: [user], tools: [{ type: 'custom', custom: { name: 'a' }, ...cached }] },
    ['/tools/0 5m'],
  ],
  ['the whole prompt', openAiChat, { messages: [user], cache_control: hour }, [' 1h']],
  [
    'a text of a message',
    openAiResponses,
    {
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'a', ...cached },
            { type: 'input_text', text: 'b' },
          ],
        },
      ],
    },
    ['/messages/0/content/0 5m'],
  ],
  [
    'a message',
    openAiResponses,
    { input: [{ type: 'message', role: 'developer', content: 's', ...cached }, user] },
    ['/system/0 5m'],
  ],
  [
    'an image',
    openAiResponses,
    { input: [{ role: 'user', content: [{ type: 'input_image', image_url: png, ...cached }] }] },
    ['/messages/0/content/0 5m'],
  ],
  [
    'a file',
    openAiResponses,
    {
      input: [
        { role: 'user', content: [{ type: 'input_file', file_data: `data:application/pdf;base64,${pdf}`, ...cached }] },
      ],
    },
    ['/messages/0/content/0 5m'],
  ],
  [
    'a call and its output',
    openAiResponses,
    {
      input: [
        user,
        { type: 'function_call', call_id: 'a', name: 't', arguments: '{}', ...cached },
        { type: 'function_call_output', call_id: 'a', output: 'ok', ...cached },
      ],
    },
    ['/messages/1/content/0 5m', '/messages/2/content/0 5m'],
  ],
  [
    'a part of an output',
    openAiResponses,
    {
      input: [
        user,
        { type: 'custom_tool_call', call_id: 'a', name: 't', input: 'x' },
        { type: 'custom_tool_call_output', call_id: 'a', output: [{ type: 'input_text', text: 'ok', ...cached }] },
      ],
    },
    ['/messages/2/content/0 5m'],
  ],
  [
    'tools',
    openAiResponses,
    {
      input: 'hi',
      tools: [
        { ...functionTool, ...cached },
        { type: 'custom', name: 'c', ...cached },
      ],
    },
    ['/tools/0 5m', '/tools/1 5m'],
  ],
  [
    'tools of a namespace and of the client itself',
    openAiResponses,
    {
      input: 'hi',
      tools: [
        { type: 'namespace', name: 'n', tools: [{ ...functionTool, ...cached }] },
        { type: 'local_shell', ...cached },
      ],
    },
    ['/tools/0 5m', '/tools/1 5m'],
  ],
  ['the whole prompt', openAiResponses, { input: 'hi', cache_control: mark }, [' 5m']],
  [
    'a text of the system',
    anthropicMessages,
    { messages: [user], system: [text('s', { cache_control: hour })] },
    ['/system/0 1h'],
  ],
  [
    'a document',
    anthropicMessages,
    {
      messages: [
        {
          role: 'user',
          content: [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'd' }, ...cached }],
        },
      ],
    },
    ['/messages/0/content/0 5m'],
  ],
  [
    'a call and its result',
    anthropicMessages,
    {
      messages: [
        user,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 't', input: {}, ...cached }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'a',
              content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }],
              ...cached,
            },
          ],
        },
      ],
    },
    ['/messages/1/content/0 5m', '/messages/2/content/0 5m'],
  ],
  [
    'a tool',
    anthropicMessages,
    { messages: [user], tools: [{ name: 't', input_schema: parameters, ...cached }] },
    ['/tools/0 5m'],
  ],
  ['the whole prompt', anthropicMessages, { messages: [user], cache_control: hour }, [' 1h']],
];

/** What is not asked of Anthropic, or in another place, and what is named. */
const others: ReadonlyArray<readonly [string, object, ReadonlyArray<string>, ReadonlyArray<string>]> = [
  [
    'a text without a kind of cache',
    { messages: [{ role: 'user', content: [text('a', { cache_control: true })] }] },
    [],
    ['/messages/0/content/0/cache_control'],
  ],
  [
    'an unknown kind of cache',
    { messages: [{ role: 'user', content: 'a', cache_control: { type: 'forever' } }] },
    [],
    ['/messages/0/cache_control'],
  ],
  [
    'an unknown time',
    { messages: [user], tools: [named('a', { cache_control: { type: 'ephemeral', ttl: '2h' } })] },
    [],
    ['/tools/0/cache_control'],
  ],
  [
    'a member that needs a header of its own',
    { messages: [{ role: 'user', content: 'a', cache_control: { ...hour, scope: 'global' } }] },
    ['/messages/0/content/0 1h'],
    ['/messages/0/cache_control/scope'],
  ],
  ['null, and an empty object', { messages: [{ ...user, cache_control: null }], cache_control: {} }, [], []],
  [
    'a message of which nothing is there',
    { messages: [user, { role: 'assistant', content: null, ...cached }, user] },
    [],
    ['/messages/1/cache_control'],
  ],
  [
    'a message with another time than its last part',
    { messages: [{ role: 'user', content: [text('a', { cache_control: hour })], ...cached }] },
    ['/messages/0/content/0 1h'],
    ['/messages/0/cache_control'],
  ],
  [
    'a tool with another time than its function',
    {
      messages: [user],
      tools: [{ type: 'function', function: { name: 'a', parameters, ...cached }, cache_control: hour }],
    },
    ['/tools/0 1h'],
    ['/tools/0/function/cache_control'],
  ],
  [
    'a blank text, up to which the text before it is the end',
    { messages: [{ role: 'user', content: [text('a'), text(' ', cached)] }] },
    ['/messages/0/content/0 5m'],
    [],
  ],
  [
    'a blank text after one that asks for another time',
    { messages: [{ role: 'user', content: [text('a', { cache_control: hour }), text('', cached)] }] },
    ['/messages/0/content/0 1h'],
    ['/messages/0/content/1/cache_control'],
  ],
  [
    'a blank text before all others',
    { messages: [{ role: 'user', content: [text('', cached), text('a')] }] },
    [],
    ['/messages/0/content/0/cache_control'],
  ],
  [
    'a user who says nothing',
    { messages: [{ role: 'user', content: '', ...cached }] },
    ['/messages/0/content/0 5m'],
    [],
  ],
  [
    'an assistant who says nothing',
    { messages: [user, { role: 'assistant', content: '', ...cached }, user] },
    [],
    ['/messages/1/cache_control'],
  ],
  [
    'a blank text of the system',
    {
      messages: [{ role: 'system', content: [text('s'), text('', cached)] }, user],
    },
    ['/system/0 5m'],
    [],
  ],
  [
    'two texts of a tool',
    {
      messages: [
        user,
        { role: 'assistant', content: null, tool_calls: [called()] },
        { role: 'tool', tool_call_id: 'a', content: [text('ok', cached), text('!', { cache_control: hour })] },
      ],
    },
    ['/messages/2/content/0 1h'],
    ['/messages/2/content/0/cache_control'],
  ],
  [
    'more than four points, of which those stay that Anthropic reads last',
    {
      messages: [
        { role: 'system', content: [text('s', cached)] },
        { role: 'user', content: [text('a', cached), text('b', cached), text('c', cached), text('d', cached)] },
      ],
      tools: [named('a', cached)],
    },
    [0, 1, 2, 3].map((index) => `/messages/0/content/${index} 5m`),
    ['/messages/0/content/0/cache_control', '/tools/0/cache_control'],
  ],
  [
    'four points and the whole prompt, which is a fifth',
    {
      messages: [
        { role: 'system', content: [text('s', cached)] },
        { role: 'user', content: [text('a', cached), text('b', cached), text('c', cached), text('d')] },
      ],
      ...cached,
    },
    [' 5m', ...[0, 1, 2].map((index) => `/messages/0/content/${index} 5m`)],
    ['/messages/0/content/0/cache_control'],
  ],
  [
    'four points and the whole prompt, whose last block asks itself',
    { messages: [{ role: 'user', content: ['a', 'b', 'c', 'd'].map((each) => text(each, cached)) }], ...cached },
    [0, 1, 2, 3].map((index) => `/messages/0/content/${index} 5m`),
    [],
  ],
  [
    'the whole prompt, whose last block asks for another time',
    { messages: [{ role: 'user', content: [text('a', cached)] }], cache_control: hour },
    ['/messages/0/content/0 5m'],
    ['/cache_control'],
  ],
  [
    'five minutes before an hour, which Anthropic refuses',
    {
      messages: [{ role: 'user', content: [text('a', { cache_control: hour }), text('b', cached)] }],
      tools: [named('a', cached)],
    },
    ['/messages/0/content/0 1h', '/messages/0/content/1 5m'],
    ['/tools/0/cache_control'],
  ],
  [
    'five minutes before an hour for the whole prompt',
    {
      messages: [
        { role: 'system', content: [text('s', cached)] },
        { role: 'user', content: 'a' },
      ],
      cache_control: hour,
    },
    [' 1h'],
    ['/messages/0/content/0/cache_control'],
  ],
];

describe('marks for Anthropic’s cache', () => {
  for (const [where, from, body, points] of places)
    it(`reach Anthropic from ${from.name}, given one on ${where}`, async () => {
      const { body: sent, ignored } = await send(from, anthropicMessages, body);
      assert.deepEqual(pointsIn(sent), points);
      assert.deepEqual(ignored, []);
    });

  for (const target of [openAiChat, openAiResponses])
    for (const [where, from, body, points] of places)
      it(`are named for a target of ${target.name} from ${from.name}, given one on ${where}`, async () => {
        const { body: sent, ignored } = await send(from, target, body);
        assert.deepEqual(pointsIn(sent), []);
        assert.ok(ignored.length >= points.length);
        for (const place of ignored) assert.match(place, /\/cache_control$/);
      });

  for (const [what, body, points, places] of others)
    it(`are kept or named, given ${what}`, async () => {
      const { body: sent, ignored } = await send(openAiChat, anthropicMessages, body);
      assert.deepEqual(pointsIn(sent).toSorted(), points.toSorted());
      assert.deepEqual(ignored.toSorted(), [...places]);
    });

  it('stay on what comes twice or in parts: a result of a tool', async () => {
    const result = (content: string, more: object) => ({ role: 'tool', tool_call_id: 'a', content, ...more });
    const assistant = { role: 'assistant', content: null, tool_calls: [called()] };
    for (const second of ['ok', 'and more']) {
      const messages = [user, assistant, result('ok', {}), result(second, cached)];
      const { body, ignored } = await send(openAiChat, anthropicMessages, { messages });
      assert.deepEqual(pointsIn(body), ['/messages/2/content/0 5m']);
      assert.deepEqual(ignored, []);
    }
  });

  it('are named on thoughts, which Anthropic keeps with what is after them', async () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: signatureOf('hm'), ...cached };
    const messages = [user, { role: 'assistant', content: [thinking, text('a', cached)] }, user];
    const { body, ignored } = await send(anthropicMessages, anthropicMessages, { messages });
    assert.deepEqual(pointsIn(body), ['/messages/1/content/1 5m']);
    assert.deepEqual(ignored, ['/messages/1/content/0/cache_control']);
  });
});
