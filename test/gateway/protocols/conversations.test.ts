import assert from 'node:assert/strict';
import fc from 'fast-check';
import * as E from 'fp-ts/lib/Either.js';
import type { Conversation, Part, TextPart, Turn } from '#gateway/neutral/conversation.ts';
import { anthropicMessages } from '#gateway/protocols/anthropic-messages/anthropic-messages.ts';
import { openAiChat } from '#gateway/protocols/openai-chat/openai-chat.ts';
import { openAiResponses } from '#gateway/protocols/openai-responses/openai-responses.ts';
import type { TextProtocol } from '#gateway/protocols/protocol.ts';
import { plainTarget } from '#test/gateway/support/plain-target.ts';
import { chatRules } from '#test/gateway/support/strict-chat.ts';
import { messagesRules, signatureOf } from '#test/gateway/support/strict-messages.ts';
import { isObject, type Rule } from '#test/gateway/support/strict-provider.ts';
import { responsesRules } from '#test/gateway/support/strict-responses.ts';
import { itInRounds } from '#test/support/run/long.ts';

const pointer = '';
/** Blank texts are left out, and no space may end an answer that is to be continued. */
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((value) => value.trim() === value);
const word = fc.stringMatching(/^[a-z]{1,8}$/);
const base64 = fc.uint8Array({ minLength: 3, maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('base64'));
const schema = fc.constantFrom(
  '{"type":"object","properties":{"n":{"const":1.0}}}',
  '{"type":"object","properties":{}}',
);

const said: fc.Arbitrary<TextPart> = text.map((value) => ({ kind: 'text', text: value, pointer }));
const image: fc.Arbitrary<Part> = fc.oneof(
  base64.map((data) => ({
    kind: 'image' as const,
    source: { kind: 'base64' as const, mediaType: 'image/png', data },
    detail: null,
    pointer,
  })),
  word.map((name) => ({
    kind: 'image' as const,
    source: { kind: 'url' as const, url: `https://example.com/${name}` },
    detail: null,
    pointer,
  })),
);
const document: fc.Arbitrary<Part> = fc.tuple(base64, word).map(([data, name]) => ({
  kind: 'document',
  source: { kind: 'base64', mediaType: 'application/pdf', data },
  name: { value: name, pointer },
  pointer,
}));

/** What a user asks, an assistant's text and calls, and the results of these calls. */
const exchange = fc
  .tuple(
    fc.array(fc.oneof(said, image, document), { minLength: 1, maxLength: 3 }),
    fc.option(said),
    fc.array(
      fc.tuple(
        word,
        fc.dictionary(word, fc.jsonValue({ maxDepth: 1 })),
        fc.array(said, { minLength: 1, maxLength: 1 }),
      ),
      {
        maxLength: 3,
      },
    ),
  )
  .filter(([, answer, calls]) => answer !== null || calls.length > 0);

/** Any conversation that all protocols can express. */
const conversations = fc
  .tuple(fc.array(said, { maxLength: 1 }), fc.array(exchange, { minLength: 1, maxLength: 3 }), schema)
  .map(([system, exchanges, described]): Conversation => {
    const names = new Set(exchanges.flatMap(([, , calls]) => calls.map(([name]) => name)));
    return {
      ...{ system, toolChoice: null, allowsParallelCalls: true, maxTokens: 500, temperature: null, topP: null },
      ...{ topK: null, stopSequences: [], output: null, reasoning: null, isStreamed: false },
      turns: exchanges.flatMap(([asked, answer, calls], at) => turnsOf(at, asked, answer, calls)),
      tools: [...names].map((name) => ({
        name,
        description: 'A tool',
        schema: described,
        isStrict: null,
        client: { form: 'function' as const, namespace: null, name },
        pointer,
      })),
    };
  });

function turnsOf(
  at: number,
  asked: ReadonlyArray<Part>,
  answer: TextPart | null,
  calls: ReadonlyArray<readonly [string, unknown, ReadonlyArray<TextPart>]>,
): ReadonlyArray<Turn> {
  const id = (index: number) => `call_${at}_${index}`;
  const called = calls.map(
    ([name, given], index): Part => ({
      kind: 'tool-call',
      id: id(index),
      name,
      arguments: JSON.stringify(given),
      state: null,
      pointer,
    }),
  );
  const results = calls.map(
    ([, , parts], index): Part => ({ kind: 'tool-result', callId: id(index), isError: false, parts, pointer }),
  );
  return [
    { role: 'user', parts: asked },
    { role: 'assistant', parts: [...(answer === null ? [] : [answer]), ...called] },
    ...(results.length === 0 ? [] : [{ role: 'user' as const, parts: results }]),
  ];
}

/** Reasoning with a signature in each turn of the assistant, and in every second one hidden reasoning. */
function withReasoning(conversation: Conversation): Conversation {
  const turns = conversation.turns.map(({ role, parts }, index): Turn => {
    if (role !== 'assistant') return { role, parts };
    const isRedacted = index % 4 === 1;
    const thought = isRedacted ? '' : `Thought ${index}`;
    const signature = { of: 'anthropic-messages', value: signatureOf(thought), isRedacted };
    return { role, parts: [{ kind: 'reasoning', text: thought, signature, pointer }, ...parts] };
  });
  return { ...conversation, turns };
}

const headers = { 'x-api-key': 'k', authorization: 'Bearer k', 'anthropic-version': '2023-06-01' };

function written({ provider }: TextProtocol, conversation: Conversation): Buffer {
  const request = provider.write(conversation, plainTarget);
  assert.ok(E.isRight(request), JSON.stringify(request));
  return request.right.body;
}

async function parsed({ client }: TextProtocol, body: Buffer): Promise<Conversation> {
  const request = await client.read(body, 1_000_000);
  assert.ok(E.isRight(request), body.toString());
  const parse = await request.right.parse(1_000_000);
  assert.ok(E.isRight(parse), JSON.stringify(parse));
  assert.deepEqual(parse.right.ignored, []);
  return parse.right.conversation;
}

/** What a conversation says, in order, without the places in a request. */
function saidIn({ system, turns, tools }: Conversation): unknown {
  const without = (value: unknown) =>
    JSON.parse(JSON.stringify(value, (key, each) => (key === 'pointer' ? undefined : each)));
  return without({
    system,
    parts: turns.flatMap(({ role, parts }) => parts.map((part) => ({ role, ...part }))),
    // A function of Responses is strict unless it says that it is not.
    tools: tools.map((tool) => ({ ...tool, isStrict: tool.isStrict ?? false })),
  });
}

describe('conversations', () => {
  const rules = new Map<TextProtocol, ReadonlyArray<Rule>>([
    [openAiChat, chatRules],
    [anthropicMessages, messagesRules],
    [openAiResponses, responsesRules(plainTarget.provider)],
  ]);
  for (const from of rules.keys())
    for (const to of rules.keys())
      itInRounds(
        `of ${from.name} keep every text, call, result, signature, image and document in order for a target of ${to.name}`,
        { few: 80, many: 2_000 },
        (numRuns) =>
          fc.assert(
            fc.asyncProperty(conversations, async (made) => {
              const conversation = from === anthropicMessages && to === from ? withReasoning(made) : made;
              const received = await parsed(from, written(from, conversation));
              const sent = written(to, received);
              const body: unknown = JSON.parse(sent.toString());
              assert.ok(isObject(body));
              const faults = rules
                .get(to)
                ?.map(({ refuses }) => refuses(body, headers))
                .filter((fault) => fault !== null);
              assert.deepEqual(faults, [], 'the provider takes it');
              assert.deepEqual(saidIn(await parsed(to, sent)), saidIn(received));
              assert.deepEqual(saidIn(received), saidIn(conversation));
            }),
            { numRuns },
          ),
      );
});
