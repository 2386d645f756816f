import assert from 'node:assert/strict';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatAnthropic } from '@langchain/anthropic';
import { type AIMessageChunk, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, jsonSchema, type LanguageModel, stepCountIs, streamText, tool } from 'ai';
import { FakeProvider } from '../../gateway/support/fake-provider.ts';
import { type GatewayService, startGateway } from '../../gateway/support/gateway-service.ts';
import { strictChat } from '../../gateway/support/strict-chat.ts';
import { strictMessages } from '../../gateway/support/strict-messages.ts';
import { type Answer, type Body, days, listOf, sendEvents, sendJson } from '../../gateway/support/strict-provider.ts';
import { goodKey } from '../../http/support/fake-service.ts';

const parameters = {
  type: 'object' as const,
  properties: { day: { type: 'string' as const } },
  required: ['day'],
};
const described = 'When it is open on a day';
const hoursOf = (day: string) => `${day} 9-17`;
const expected = 'Open Monday 9-17 and Tuesday 9-17';
const question = 'When do you open?';

/** A call of the tool for a day, as a provider of chats sends it, whole or in one piece of a stream. */
type CallForm = (day: string, place: number) => Body;

const called = (day: string) => ({ name: 'opening_hours', arguments: JSON.stringify({ day }) });

/** How providers of chats send two calls in one answer. */
const forms: Readonly<Record<string, CallForm>> = {
  'without an index': (day, place) => ({ id: `call_${place}`, type: 'function', function: called(day) }),
  'with the same index': (day, place) => ({ index: 0, id: `call_${place}`, type: 'function', function: called(day) }),
  'without ids': (day, index) => ({ index, type: 'function', function: called(day) }),
  'with the same id': (day, index) => ({ index, id: 'opening_hours', type: 'function', function: called(day) }),
  'with neither': (day) => ({ type: 'function', function: called(day) }),
  'with objects': (day, index) => ({
    index,
    id: `call_${index}`,
    function: { name: 'opening_hours', arguments: { day } },
  }),
};

/** Calls the tool for both days in one answer, and then says what it got. */
function chatsWith(form: CallForm): Answer {
  return (res, body) => {
    const results = listOf(body.messages).flatMap(({ role, content }) => (role === 'tool' ? [textOf(content)] : []));
    const common = { id: 'chatcmpl-fake', created: 1, model: body.model };
    const usage = { prompt_tokens: 15, completion_tokens: 7, total_tokens: 22 };
    const isCalling = results.length === 0;
    const said = { role: 'assistant', content: isCalling ? null : `Open ${results.join(' and ')}` };
    const calls = isCalling ? days.map(form) : [];
    const reason = isCalling ? 'tool_calls' : 'stop';
    if (body.stream !== true) {
      const message = isCalling ? { ...said, tool_calls: calls } : said;
      const choices = [{ index: 0, message, logprobs: null, finish_reason: reason }];
      sendJson(res, { ...common, object: 'chat.completion', choices, usage });
      return;
    }
    const chunk = (delta: Body, finish: string | null = null) =>
      `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    sendEvents(res, [
      ...[chunk(said), ...calls.map((call) => chunk({ tool_calls: [call] })), chunk({}, reason)],
      'data: [DONE]\n\n',
    ]);
  };
}

/** As `chatsWith`, of a provider of Messages. */
const messages: Answer = (res, body) => {
  const blocks = listOf(body.messages).flatMap(({ content }) => listOf(content));
  const results = blocks.flatMap(({ type, content }) => (type === 'tool_result' ? [textOf(content)] : []));
  const isCalling = results.length === 0;
  const content: ReadonlyArray<Body> = isCalling
    ? days.map((day) => ({ type: 'tool_use', id: `toolu_${day}`, name: 'opening_hours', input: { day } }))
    : [{ type: 'text', text: `Open ${results.join(' and ')}` }];
  const usage = { input_tokens: 15, output_tokens: 7 };
  const message = { id: 'msg_fake', type: 'message', role: 'assistant', model: body.model, usage, stop_sequence: null };
  const reason = isCalling ? 'tool_use' : 'end_turn';
  if (body.stream !== true) sendJson(res, { ...message, content, stop_reason: reason });
  else {
    const event = (value: Body) => `event: ${String(value.type)}\ndata: ${JSON.stringify(value)}\n\n`;
    sendEvents(res, [
      event({ type: 'message_start', message: { ...message, content: [], stop_reason: null } }),
      // All in the beginning of a block, as some providers send it that only speak as Anthropic does.
      ...content.flatMap((block, index) => [
        event({ type: 'content_block_start', index, content_block: block }),
        event({ type: 'content_block_stop', index }),
      ]),
      event({ type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage }),
      event({ type: 'message_stop' }),
    ]);
  }
};

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map(({ text }) => String(text))
    .join('');
}

/** Has the conversation at a model. Resolves with the last text. */
type Converse = (url: string, model: string, isStreamed: boolean) => Promise<string>;

const byAiSdk =
  (modelOf: (url: string, model: string) => LanguageModel): Converse =>
  (url, model, isStreamed) =>
    converseWithAiSdk(modelOf(url, model), isStreamed);
const byLangChain =
  (modelOf: (url: string, model: string) => ChatOpenAI | ChatAnthropic): Converse =>
  (url, model, isStreamed) =>
    converseWithLangChain(modelOf(url, model), isStreamed);

const openAiAt = (url: string) => ({ baseURL: `${url}/v1`, apiKey: goodKey });

/** Clients whose protocol a provider of chats does not speak. */
const translatedToChats: Readonly<Record<string, Converse>> = {
  'ai with @ai-sdk/anthropic': byAiSdk((url, model) => createAnthropic(openAiAt(url))(model)),
  'ai with @ai-sdk/openai, Responses': byAiSdk((url, model) => createOpenAI(openAiAt(url)).responses(model)),
  '@langchain/anthropic': byLangChain(
    (url, model) => new ChatAnthropic({ model, apiKey: goodKey, anthropicApiUrl: url, maxTokens: 500 }),
  ),
  '@langchain/openai, Responses': byLangChain(
    (url, model) => new ChatOpenAI({ model, apiKey: goodKey, useResponsesApi: true, configuration: openAiAt(url) }),
  ),
};

/** Clients whose protocol a provider of Messages does not speak. */
const translatedToMessages: Readonly<Record<string, Converse>> = {
  'ai with @ai-sdk/openai-compatible': byAiSdk((url, model) =>
    createOpenAICompatible({ name: 'switchyard', ...openAiAt(url) })(model),
  ),
  'ai with @ai-sdk/openai, Responses': byAiSdk((url, model) => createOpenAI(openAiAt(url)).responses(model)),
  '@langchain/openai': byLangChain(
    (url, model) => new ChatOpenAI({ model, apiKey: goodKey, configuration: openAiAt(url) }),
  ),
  '@langchain/openai, Responses': byLangChain(
    (url, model) => new ChatOpenAI({ model, apiKey: goodKey, useResponsesApi: true, configuration: openAiAt(url) }),
  ),
};

describe('two calls of a tool in one answer', function () {
  this.timeout(30_000);
  const strictMessaging = strictMessages(messages);
  let chats: FakeProvider;
  let messaging: FakeProvider;
  let service: GatewayService;

  before(async () => {
    [chats, messaging] = await Promise.all([FakeProvider.start(), FakeProvider.start()]);
    messaging.answers(strictMessaging.behaviour);
    const key = { apiKeyEnv: 'PROVIDER_KEY' };
    service = await startGateway({
      providers: {
        openai: { kind: 'openai-compatible', baseUrl: chats.baseUrl, ...key },
        anthropic: { kind: 'anthropic', baseUrl: messaging.baseUrl, ...key },
      },
      models: {
        'on-chat': { targets: [{ provider: 'openai', model: 'gpt-x' }] },
        'on-messages': { targets: [{ provider: 'anthropic', model: 'claude-x' }] },
      },
    });
  });
  after(async () => {
    await service.stop();
    await Promise.all([chats.stop(), messaging.stop()]);
  });

  for (const way of ['whole', 'streamed'] as const) {
    for (const [name, converse] of Object.entries(translatedToChats))
      for (const [form, call] of Object.entries(forms))
        it(`are both answered by ${name}, ${way}, when a provider of chats sends them ${form}`, async () => {
          const strict = strictChat(chatsWith(call));
          chats.answers(strict.behaviour);
          assert.deepEqual(
            [await converse(service.url, 'on-chat', way === 'streamed'), strict.refusals],
            [expected, []],
          );
        });

    for (const [name, converse] of Object.entries(translatedToMessages))
      it(`are both answered by ${name}, ${way}, when a provider of Messages sends them in the beginnings of blocks`, async () => {
        const said = await converse(service.url, 'on-messages', way === 'streamed');
        assert.deepEqual([said, strictMessaging.refusals], [expected, []]);
      });
  }
});

async function converseWithAiSdk(model: LanguageModel, isStreamed: boolean): Promise<string> {
  const request = {
    ...{ model, prompt: question, stopWhen: stepCountIs(3), maxRetries: 0, maxOutputTokens: 500 },
    tools: {
      opening_hours: tool({
        description: described,
        inputSchema: jsonSchema<{ day: string }>(parameters),
        execute: async ({ day }) => hoursOf(day),
      }),
    },
  };
  return isStreamed ? streamText(request).text : (await generateText(request)).text;
}

async function converseWithLangChain(model: ChatOpenAI | ChatAnthropic, isStreamed: boolean): Promise<string> {
  const asked = { name: 'opening_hours', description: described, parameters };
  const bound = model.bindTools([{ type: 'function' as const, function: asked }]);
  const conversation: BaseMessage[] = [new HumanMessage(question)];
  for (;;) {
    const answer = isStreamed ? await joined(await bound.stream(conversation)) : await bound.invoke(conversation);
    const calls = answer.tool_calls ?? [];
    if (calls.length === 0) return answer.text;
    const results = calls.map(
      ({ id, args }) => new ToolMessage({ content: hoursOf(String(args.day)), tool_call_id: id ?? '' }),
    );
    conversation.push(answer, ...results);
  }
}

/** Adds up the pieces of a streamed message. */
async function joined(pieces: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
  let all: AIMessageChunk | null = null;
  for await (const piece of pieces) all = all === null ? piece : all.concat(piece);
  return all ?? assert.fail('the stream is empty');
}
