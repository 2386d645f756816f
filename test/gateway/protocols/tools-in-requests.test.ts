import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import type { Answer } from '#gateway/neutral/answer.ts';
import type { AnswerEvent } from '#gateway/neutral/answer-event.ts';
import { anthropicMessages } from '#gateway/protocols/anthropic-messages/anthropic-messages.ts';
import { openAiChat } from '#gateway/protocols/openai-chat/openai-chat.ts';
import { openAiResponses } from '#gateway/protocols/openai-responses/openai-responses.ts';
import type { ClientProtocol, ParsedRequest, TextProtocol, TextRequest } from '#gateway/protocols/protocol.ts';
import { ToolNames } from '#gateway/protocols/tool-names.ts';
import { plainTarget } from '#test/gateway/support/plain-target.ts';
import { chatRules } from '#test/gateway/support/strict-chat.ts';
import { messagesRules } from '#test/gateway/support/strict-messages.ts';
import { type Body, isObject, type Rule } from '#test/gateway/support/strict-provider.ts';

const headers = { 'x-api-key': 'k', authorization: 'Bearer k', 'anthropic-version': '2023-06-01' };
const targets = new Map<TextProtocol, ReadonlyArray<Rule>>([
  [openAiChat, chatRules],
  [anthropicMessages, messagesRules],
]);

const longName = 'x'.repeat(128);
const dotted = 'web.search';
const names = [longName, dotted, 'größe', 'look'];
const targetNames = names.map((name) => new ToolNames().nameOf(null, name));
const object = { type: 'object', properties: {} };

/** How a client of each protocol declares tools, calls them, and chooses one. */
interface Dialect {
  readonly protocol: ClientProtocol;
  readonly base: object;
  readonly tool: (name: string) => object;
  readonly history: (calls: ReadonlyArray<string>) => object;
  readonly choice: (name: string) => object;
  /** The choice of some tools; null if the protocol has none. */
  readonly allowed: ((mode: string, names: ReadonlyArray<string>) => object) | null;
}

const asked = { role: 'user', content: 'hi' };
const chat: Dialect = {
  protocol: openAiChat,
  base: {},
  tool: (name) => ({ type: 'function', function: { name, parameters: object } }),
  history: (calls) => ({
    messages: [
      asked,
      ...(calls.length === 0
        ? []
        : [
            {
              role: 'assistant',
              content: null,
              tool_calls: calls.map((name, index) => ({
                ...{ id: `c${index}`, type: 'function', function: { name, arguments: '{}' } },
              })),
            },
            ...calls.map((_, index) => ({ role: 'tool', tool_call_id: `c${index}`, content: 'ok' })),
          ]),
    ],
  }),
  choice: (name) => ({ type: 'function', function: { name } }),
  allowed: (mode, allowed) => ({
    type: 'allowed_tools',
    allowed_tools: { mode, tools: allowed.map((name) => ({ type: 'function', function: { name } })) },
  }),
};
const messages: Dialect = {
  protocol: anthropicMessages,
  base: { max_tokens: 100 },
  tool: (name) => ({ name, input_schema: object }),
  history: (calls) => ({
    messages: [
      asked,
      ...(calls.length === 0
        ? []
        : [
            {
              role: 'assistant',
              content: calls.map((name, index) => ({ type: 'tool_use', id: `c${index}`, name, input: {} })),
            },
            {
              role: 'user',
              content: calls.map((_, index) => ({ type: 'tool_result', tool_use_id: `c${index}`, content: 'ok' })),
            },
          ]),
    ],
  }),
  choice: (name) => ({ type: 'tool', name }),
  allowed: null,
};
const responses: Dialect = {
  protocol: openAiResponses,
  base: {},
  tool: (name) => ({ type: 'function', name, parameters: object }),
  history: (calls) => ({
    input: [
      asked,
      ...calls.flatMap((name, index) => [
        { type: 'function_call', call_id: `c${index}`, name, arguments: '{}' },
        { type: 'function_call_output', call_id: `c${index}`, output: 'ok' },
      ]),
    ],
  }),
  choice: (name) => ({ type: 'function', name }),
  allowed: (mode, allowed) => ({
    type: 'allowed_tools',
    mode,
    tools: allowed.map((name) => ({ type: 'function', name })),
  }),
};
const dialects = [chat, messages, responses];

async function requestOf({ protocol, base }: Dialect, body: object): Promise<TextRequest> {
  const read = await protocol.client.read(Buffer.from(JSON.stringify({ model: 'a', ...base, ...body })), 100_000);
  assert.ok(E.isRight(read), JSON.stringify(read));
  return read.right;
}

async function parsedOf(dialect: Dialect, body: object): Promise<ParsedRequest> {
  const parsed = await (await requestOf(dialect, body)).parse(100_000);
  assert.ok(E.isRight(parsed), JSON.stringify(parsed));
  return parsed.right;
}

async function refusalOf(dialect: Dialect, body: object): Promise<unknown> {
  const parsed = await (await requestOf(dialect, body)).parse(100_000);
  assert.ok(E.isLeft(parsed));
  return 'pointer' in parsed.left ? parsed.left.pointer : parsed.left;
}

/** The body that a target gets, which its provider takes. */
function writtenFor(target: TextProtocol, { conversation }: ParsedRequest): Body {
  const written = target.provider.write(conversation, plainTarget);
  assert.ok(E.isRight(written), JSON.stringify(written));
  const sent: unknown = JSON.parse(written.right.body.toString());
  assert.ok(isObject(sent));
  const faults = targets.get(target)?.map(({ refuses }) => refuses(sent, headers)) ?? [];
  assert.deepEqual(
    faults.filter((fault) => fault !== null),
    [],
    JSON.stringify(sent),
  );
  return sent;
}

/** All values of members with the name `name`, in order. */
function namesIn(value: unknown): ReadonlyArray<unknown> {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => (key === 'name' ? [each] : namesIn(each)));
}

for (const dialect of dialects)
  describe(`tools of ${dialect.protocol.name}`, () => {
    const tools = names.map(dialect.tool);

    for (const target of targets.keys())
      it(`given names that a provider refuses when they are sent to ${target.name} then declarations, calls and the choice have the same other names`, async () => {
        const body = { ...dialect.history(names), tools, tool_choice: dialect.choice(longName) };
        const sent = writtenFor(target, await parsedOf(dialect, body));
        assert.deepEqual(namesIn(sent.messages), targetNames);
        assert.deepEqual(namesIn(sent.tools), targetNames);
        assert.deepEqual(namesIn(sent.tool_choice), [targetNames[0]]);
      });

    it('given a call of a tool that is not declared then it has the name that its declaration would give it', async () => {
      const { conversation } = await parsedOf(dialect, dialect.history([dotted]));
      const called = conversation.turns.flatMap(({ parts }) => parts.filter((part) => part.kind === 'tool-call'));
      assert.deepEqual(
        called.map(({ name }) => name),
        [targetNames[1]],
      );
    });

    it('given an answer with calls when it is written, whole or streamed, then the client gets its own names', async () => {
      const call = { id: 'c1', name: targetNames[0] as string, state: null };
      const answer: Answer = {
        ...{ id: null, model: null, reason: 'tool-calls', stopSequence: null, tokens: null },
        parts: [{ kind: 'tool-call', ...call, arguments: '{}' }],
      };
      const events: ReadonlyArray<AnswerEvent> = [
        { kind: 'started', id: null, model: null },
        { kind: 'tool-call', index: 0, ...call },
        { kind: 'arguments', index: 0, text: '{}' },
        { kind: 'part-end', index: 0 },
        { kind: 'finished', reason: 'tool-calls', stopSequence: null },
      ];
      // A tool may be declared, or be in the history alone.
      for (const body of [{ ...dialect.history([]), tools }, dialect.history([longName])]) {
        const request = await requestOf(dialect, body);
        const { tools: known } = await parsedOf(dialect, body);
        const options = { model: 'm', isContinuation: false, tools: known };
        const writer = request.createWriter(options);
        const streamed = events.map((event) => writer.write(event)).join('') + writer.end();
        for (const text of [request.writeWhole(answer, options).toString(), streamed]) {
          assert.ok(text.includes(`"name":"${longName}"`), text);
          assert.ok(!text.includes(call.name), text);
        }
      }
    });

    it('given a name of more than 1,024 characters then it is refused with its place', async () => {
      const declared = await refusalOf(dialect, { ...dialect.history([]), tools: [dialect.tool('x'.repeat(1_025))] });
      const called = await refusalOf(dialect, dialect.history(['x'.repeat(70_000)]));
      for (const pointer of [declared, called]) assert.match(String(pointer), /^\/.*\/name$/);
    });

    const { allowed } = dialect;
    if (allowed === null) return;

    it('given allowed tools when they are sent to Claude then it gets these alone, and may or must call one', async () => {
      const body = { ...dialect.history([]), tools };
      for (const [mode, type] of [
        ['auto', 'auto'],
        ['required', 'any'],
      ] as const) {
        const parsed = await parsedOf(dialect, { ...body, tool_choice: allowed(mode, ['look', longName, 'other']) });
        const sent = writtenFor(anthropicMessages, parsed);
        assert.deepEqual(namesIn(sent.tools), [targetNames[0], 'look']);
        assert.deepEqual(sent.tool_choice, { type });
        assert.match(String(parsed.ignored), /^\/tool_choice\/(allowed_tools\/)?tools\/2$/);
      }
    });

    it('given no allowed tool when one must be called then the choice is refused', async () => {
      const body = { ...dialect.history([]), tools, tool_choice: allowed('required', ['other']) };
      assert.equal(await refusalOf(dialect, body), '/tool_choice');
    });

    it('given thousands of allowed tools then they are found in little time', async () => {
      const many = Array.from({ length: 4_000 }, (_, index) => `tool.${index}`);
      const body = { ...dialect.history([]), tools: many.map(dialect.tool), tool_choice: allowed('auto', many) };
      const { conversation } = await parsedOf(dialect, body);
      assert.equal(conversation.tools.length, many.length);
    });
  });

describe('a custom tool of a chat', () => {
  it('given a choice of it, or among it and others, then a target gets the function that it is there', async () => {
    const tools = [{ type: 'custom', custom: { name: 'apply.patch' } }, chat.tool('look')];
    const name = new ToolNames().nameOf(null, 'apply.patch');
    const custom = { type: 'custom', custom: { name: 'apply.patch' } };
    const body = { ...chat.history([]), tools };
    const forced = writtenFor(anthropicMessages, await parsedOf(chat, { ...body, tool_choice: custom }));
    assert.deepEqual(forced.tool_choice, { type: 'tool', name });
    const choice = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [custom] } };
    const allowed = writtenFor(anthropicMessages, await parsedOf(chat, { ...body, tool_choice: choice }));
    assert.deepEqual(namesIn(allowed.tools), [name]);
    assert.deepEqual(allowed.tool_choice, { type: 'any' });
  });
});
