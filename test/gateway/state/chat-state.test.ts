import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { Catalogue } from '#gateway/config/catalogue.ts';
import { decodeConfiguration } from '#gateway/config/decode-configuration.ts';
import { LongTexts } from '#gateway/framing/long-texts.ts';
import type { AnswerEvent } from '#gateway/neutral/answer-event.ts';
import type { Conversation, Part, Signature, Turn } from '#gateway/neutral/conversation.ts';
import { parseMessages } from '#gateway/protocols/anthropic-messages/parse-messages.ts';
import { ChatAnswerReader } from '#gateway/protocols/openai-chat/chat-answer-reader.ts';
import { openAiChat } from '#gateway/protocols/openai-chat/openai-chat.ts';
import { signatureTextOf } from '#gateway/protocols/signature-text.ts';
import type { TargetModel } from '#gateway/protocols/target-model.ts';
import { plainTarget } from '#test/gateway/support/plain-target.ts';
import { type Body, listOf } from '#test/gateway/support/strict-provider.ts';

const own = (value: object): Signature => ({ of: 'p/m', value: JSON.stringify(value), isRedacted: false });
const said = (text: string): Part => ({ kind: 'text', text, pointer: '/said' });
const thought = (text: string, signature: Signature | null): Part => ({
  kind: 'reasoning',
  text,
  signature,
  pointer: '/thought',
});
const call = (id: string, state: Signature | null = null): Part => ({
  ...{ kind: 'tool-call', id, name: 'f', arguments: '{}', state, pointer: `/${id}` },
});
const result = (callId: string, ...more: ReadonlyArray<Part>): Turn => ({
  role: 'user',
  parts: [{ kind: 'tool-result', callId, isError: false, parts: [], pointer: '/r' }, ...more],
});
const asks: Turn = { role: 'user', parts: [said('x')] };
const answers = (...parts: ReadonlyArray<Part>): Turn => ({ role: 'assistant', parts });

/** The messages of a conversation for a target, and what is left out. */
function written(turns: ReadonlyArray<Turn>, target: Partial<TargetModel> = {}) {
  const conversation: Conversation = {
    ...{ system: [], turns, tools: [], toolChoice: null, allowsParallelCalls: true, maxTokens: null },
    ...{
      temperature: null,
      topP: null,
      topK: null,
      stopSequences: [],
      output: null,
      reasoning: null,
      isStreamed: false,
    },
  };
  const request = openAiChat.provider.write(conversation, { ...plainTarget, ...target });
  if (E.isLeft(request)) return assert.fail(request.left.message);
  const { body, ignored } = request.right;
  const messages = listOf(JSON.parse(body.toString()).messages);
  return { messages, ignored, assistants: messages.filter(({ role }) => role === 'assistant') };
}

describe('the reasoning that a chat target gets back', () => {
  const reasoningIn = (message: Body | undefined) => message?.reasoning_content;

  it('given a reminder next to the results of tools then its turn is the same', () => {
    const turns = [asks, answers(thought('hm', own({})), call('a')), result('a', said('<system-reminder>'))];
    assert.equal(reasoningIn(written(turns).assistants[0]), 'hm');
  });

  it('given a new question then what was before it stays away, and is named', () => {
    const turns = [asks, answers(thought('hm', own({})), said('so')), asks];
    const { assistants, ignored } = written(turns);
    assert.deepEqual([reasoningIn(assistants[0]), ignored], [undefined, ['/thought']]);
  });

  for (const returnsReasoning of ['tools', 'always'] as const)
    it(`given thoughts of an unknown maker and "${returnsReasoning}" then they go back as text`, () => {
      const turns = [asks, answers(thought('hm', null), call('a')), result('a')];
      assert.equal(reasoningIn(written(turns, { returnsReasoning }).assistants[0]), 'hm');
      assert.deepEqual([written(turns).ignored, reasoningIn(written(turns).assistants[0])], [['/thought'], undefined]);
    });

  it('given calls without thoughts, or with those of another, and a setting then a blank text goes back', () => {
    const foreign = thought('hm', { of: 'q/m', value: '{}', isRedacted: false });
    for (const parts of [[call('a')], [foreign, call('a')]]) {
      const turns = [asks, answers(...parts), result('a')];
      assert.equal(reasoningIn(written(turns, { returnsReasoning: 'tools' }).assistants[0]), ' ');
      assert.equal(reasoningIn(written(turns).assistants[0]), undefined);
    }
  });

  it('given answers without thoughts and "always" then a blank text goes back with each of them', () => {
    const turns = [asks, answers(call('a')), result('a'), answers(said('so')), asks];
    const blanks = (returnsReasoning: 'always' | 'tools' | 'never') =>
      written(turns, { returnsReasoning }).assistants.map(reasoningIn);
    assert.deepEqual(blanks('always'), [' ', ' ']);
    assert.deepEqual(blanks('tools'), [undefined, undefined]);
    assert.deepEqual(blanks('never'), [undefined, undefined]);
  });

  it('given a thought that its client has changed then the details that repeat it stay away', () => {
    const details = [{ type: 'reasoning.text', text: 2, signature: 's' }];
    const turnsOf = (text: string) => [
      asks,
      answers(thought(text, own({ reasoning_details: details })), call('a')),
      result('a'),
    ];
    assert.deepEqual(written(turnsOf('hm')).assistants[0]?.reasoning_details, [{ ...details[0], text: 'hm' }]);
    const { assistants, ignored } = written(turnsOf('hmm'));
    assert.deepEqual([assistants[0]?.reasoning_details, ignored], [undefined, ['/thought']]);
  });

  it('given a state that no gateway has written then it is named, and nothing fails', () => {
    for (const value of [
      '',
      'x',
      '[]',
      '{"member":"content"}',
      '{"reasoning_details":[1]}',
      '['.repeat(5_000),
      '{"extra_content":[]}',
    ]) {
      const turns = [
        asks,
        answers(
          thought('hm', { of: 'p/m', value, isRedacted: false }),
          call('a', { of: 'p/m', value: '[]', isRedacted: true }),
        ),
        result('a'),
      ];
      assert.deepEqual(written(turns).ignored.toSorted(), ['/a', '/thought'], value.slice(0, 20));
    }
  });

  it('given states of more values than a translated request may have then the last ones stay away', () => {
    const large = own({ reasoning_details: [{ list: Array.from({ length: 60_000 }, () => 0) }] });
    const turns = [
      asks,
      answers(thought('a', large), call('a')),
      result('a'),
      answers(thought('b', large), call('b')),
      result('b'),
    ];
    const { assistants } = written(turns);
    assert.deepEqual(
      assistants.map((message) => 'reasoning_details' in message),
      [true, false],
    );
  });
});

describe('a call without a signature', () => {
  const google = { checksSignatures: true };
  const extra = (target: Partial<TargetModel>, ...calls: ReadonlyArray<Part>) => {
    const { assistants, ignored } = written([asks, answers(...calls), result('a'), result('b')], target);
    return [listOf(assistants[0]?.tool_calls).map(({ extra_content: each }) => each ?? null), ignored];
  };
  const skip = { google: { thought_signature: 'skip_thought_signature_validator' } };

  it('gets at Google the value that its reference names, for the first of parallel calls alone', () => {
    assert.deepEqual(extra(google, call('a'), call('b')), [[skip, null], ['/a']]);
    assert.deepEqual(extra(google, call('a', { of: 'q/m', value: '{}', isRedacted: true }), call('b')), [
      [skip, null],
      ['/a'],
    ]);
    assert.deepEqual(extra({}, call('a'), call('b')), [[null, null], []]);
  });

  it('is one whose message has no signature: the first one has it', () => {
    const signature = { google: { thought_signature: 'x' } };
    assert.deepEqual(extra(google, call('a', own(signature)), call('b')), [[signature, null], []]);
  });

  it('stays as it is before the last question, because Google checks the current turn', () => {
    const { assistants } = written([asks, answers(call('a')), result('a'), answers(said('so')), asks], google);
    assert.equal(listOf(assistants[0]?.tool_calls)[0]?.extra_content, undefined);
  });

  it('is refused by Gemini 3 and later at the hosts of Google, and DeepSeek wants all reasoning at its own', () => {
    const targetAt = (baseUrl: string, model: string, more: object = {}) => {
      const decoded = decodeConfiguration(
        {
          providers: { p: { kind: 'openai-compatible', baseUrl } },
          models: { m: { targets: [{ provider: 'p', model, ...more }] } },
        },
        {},
      );
      const route = E.isRight(decoded) ? new Catalogue(decoded.right).chat('m', 'fast') : assert.fail();
      return E.isRight(route) ? route.right.targets[0] : assert.fail();
    };
    const google = 'https://generativelanguage.googleapis.com/v1beta/openai';
    const cloud = 'https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/l/endpoints/openapi';
    const checks: ReadonlyArray<readonly [string, string, boolean]> = [
      [google, 'gemini-3-pro-preview', true],
      [google, 'gemini-flash-latest', true],
      [google, 'gemini-2.5-pro', false],
      [cloud, 'google/gemini-3-flash', true],
      ['https://aiplatform.googleapis.com/v1', 'google/gemini-3-flash', true],
      [cloud, 'meta/llama-4', false],
      ['https://openrouter.ai/api/v1', 'google/gemini-3-pro', false],
      ['https://generativelanguage.googleapis.com.evil.example/v1', 'gemini-3-pro', false],
    ];
    for (const [baseUrl, model, expected] of checks)
      assert.equal(targetAt(baseUrl, model)?.checksSignatures, expected, `${model} at ${baseUrl}`);
    for (const baseUrl of [
      'https://api.deepseek.com/v1',
      'https://api.moonshot.ai/v1',
      'https://api.moonshot.cn/v1',
      'https://api.kimi.com/coding/v1',
    ])
      assert.equal(targetAt(baseUrl, 'x')?.returnsReasoning, 'always', baseUrl);
    assert.equal(targetAt('https://api.moonshot.ai.evil.example/v1', 'x')?.returnsReasoning, null);
    assert.equal(
      targetAt('https://api.deepseek.com/v1', 'x', { returnsReasoning: 'never' })?.returnsReasoning,
      'never',
    );
    assert.equal(targetAt(google, 'gemini-3-pro')?.returnsReasoning, null);
  });
});

describe('the state in a stream of a provider of chats', () => {
  const read = (...deltas: ReadonlyArray<object>) => {
    const reader = new ChatAnswerReader(plainTarget);
    const end = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
    const chunks = [...deltas.map((delta) => ({ choices: [{ index: 0, delta }] })), end];
    return { reader, events: chunks.flatMap((chunk) => reader.read(JSON.stringify(chunk))) };
  };
  const valuesOf = (events: ReadonlyArray<AnswerEvent>) =>
    events.flatMap((event) => (event.kind === 'signature' ? [JSON.parse(event.signature.value)] : []));

  it('has details of one index, type and id as one, and keeps others apart and in order', () => {
    const pieces = [
      { type: 'reasoning.summary', summary: 'a', index: 0 },
      { type: 'reasoning.summary', summary: 'b', index: 0 },
      { type: 'reasoning.encrypted', data: 'x', index: 0, id: 'one' },
      { type: 'reasoning.encrypted', data: 'y', index: 0, id: 'two' },
      { type: 'reasoning.encrypted', data: 'z', index: 0, id: 'two', format: null },
      { signature: 's', index: 1, text: 'c', type: 'reasoning.text' },
      { index: 1, text: 'd' },
    ];
    const { events } = read(...pieces.map((piece) => ({ reasoning_details: [piece] })));
    assert.deepEqual(valuesOf(events), [
      {
        member: null,
        reasoning_details: [
          { type: 'reasoning.summary', summary: 2, index: 0 },
          { type: 'reasoning.encrypted', data: 'x', index: 0, id: 'one' },
          { type: 'reasoning.encrypted', data: 'yz', index: 0, id: 'two', format: null },
          { signature: 's', index: 1, text: 2, type: 'reasoning.text' },
        ],
      },
    ]);
  });

  it('does not say a text again that details repeat at the end', () => {
    const { events } = read(
      { reasoning: 'hm' },
      { content: '', reasoning_details: [{ type: 'reasoning.text', text: 'hm', signature: 's' }] },
      { content: 'so' },
    );
    assert.deepEqual(
      events.filter(({ kind }) => kind !== 'part-start').map((event) => ('text' in event ? event.text : event.kind)),
      ['started', 'hm', 'signature', 'so', 'finished'],
    );
    assert.deepEqual(valuesOf(events)[0], {
      member: 'reasoning',
      reasoning_details: [{ type: 'reasoning.text', text: 'hm', signature: 's' }],
    });
  });

  it('is counted in what is kept, however many details come', () => {
    const details = (index: number) => ({
      reasoning_details: [{ type: 'reasoning.encrypted', data: 'x'.repeat(100), index }],
    });
    const reader = new ChatAnswerReader(plainTarget);
    for (let index = 0; index < 1_000; index += 1)
      reader.read(JSON.stringify({ choices: [{ index: 0, delta: details(index) }] }));
    assert.ok(reader.keptBytes > 600_000, String(reader.keptBytes));
    reader.read(JSON.stringify({ choices: [{ index: 0, delta: { content: 'so' } }] }));
    assert.ok(reader.keptBytes < 1_000, String(reader.keptBytes));
  });
});

describe('long reasoning', () => {
  it('of a client of Messages goes back with its details', async () => {
    const text = 'Hmm. '.repeat(20_000);
    const details = [
      { type: 'reasoning.text', text: text.length, signature: 's' },
      { type: 'reasoning.encrypted', data: 'y'.repeat(100_000) },
    ];
    const signature = signatureTextOf(own({ member: 'reasoning', reasoning_details: details }));
    const messages = [
      { role: 'user', content: 'x' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: text, signature },
          { type: 'tool_use', id: 'a', name: 'f', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'z'.repeat(100_000) }] },
    ];
    const longTexts = new LongTexts();
    const parsed = await parseMessages(Buffer.from(JSON.stringify({ model: 'm', messages })), 1_000, longTexts);
    if (E.isLeft(parsed) || !('conversation' in parsed.right)) return assert.fail();
    const request = openAiChat.provider.write(parsed.right.conversation, plainTarget);
    if (E.isLeft(request)) return assert.fail(request.left.message);
    const [, message] = listOf(JSON.parse(longTexts.putInto(request.right.body).toString()).messages);
    assert.equal(message?.reasoning, text);
    assert.deepEqual(message?.reasoning_details, [{ ...details[0], text }, details[1]]);
  });
});

describe('a client of chats', () => {
  it('has the details of the gateway taken out wherever they are, and nothing else', async () => {
    const details = '"reasoning_details" : [{"provider":"anthropic-messages","data":"x"}]';
    const sent = async (message: string) => {
      const bytes = Buffer.from(`{"model":"m","messages":[{"role":"user","content":"x"},${message}]}`);
      const read = await openAiChat.client.read(bytes, 1_000);
      if (E.isLeft(read)) return assert.fail(read.left.detail);
      const target = { provider: 'p', model: 'm', reasoning: true, hostedTools: false };
      const { body, ignored } = read.right.changed({ target, asksUsage: false, continueFrom: null });
      return [body.toString().slice('{"model":"m","messages":[{"role":"user","content":"x"},'.length, -2), ignored];
    };
    const cut = ['/messages/1/reasoning_details'];
    assert.deepEqual(await sent(`{"role":"assistant", ${details}, "content":"a"}`), [
      '{"role":"assistant", "content":"a"}',
      cut,
    ]);
    assert.deepEqual(await sent(`{ ${details} , "role":"assistant"}`), ['{ "role":"assistant"}', cut]);
    assert.deepEqual(await sent(`{ ${details},${details} ,"role":"assistant"}`), ['{ "role":"assistant"}', cut]);
    assert.deepEqual(await sent(`{"role":"assistant",${details}}`), ['{"role":"assistant"}', cut]);
    const foreign = '{"role":"assistant","reasoning_details":[{"type":"reasoning.text","text":"provider"}]}';
    assert.deepEqual(await sent(foreign), [foreign, []]);
  });
});
