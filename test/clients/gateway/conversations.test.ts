import assert from 'node:assert/strict';
import { type AnthropicProvider, createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { ChatAnthropic } from '@langchain/anthropic';
import { type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, jsonSchema, type LanguageModel, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { FakeProvider } from '../../gateway/support/fake-provider.ts';
import { type GatewayService, startGateway } from '../../gateway/support/gateway-service.ts';
import { strictChat } from '../../gateway/support/strict-chat.ts';
import { strictMessages } from '../../gateway/support/strict-messages.ts';
import type { StrictProvider } from '../../gateway/support/strict-provider.ts';
import { goodKey } from '../../http/support/fake-service.ts';
import { streamedMessage } from '../support/streamed-message.ts';

const parameters = {
  type: 'object' as const,
  properties: { day: { type: 'string' as const } },
  required: ['day'],
};
const described = 'When it is open on a day';
const hoursOf = (day: string) => `${day} 9-17`;
const expected = 'Open Monday 9-17 and Tuesday 9-17 ✓';
const question = 'When do you open?';

/** What each client says at the end of a conversation with two calls of a tool. */
interface Client {
  readonly name: string;
  readonly converse: (model: string, isStreamed: boolean) => Promise<string>;
}

describe('official clients', function () {
  this.timeout(30_000);
  const [chat, messages] = [strictChat(), strictMessages()];
  let chatProvider: FakeProvider;
  let messagesProvider: FakeProvider;
  let service: GatewayService;

  before(async () => {
    [chatProvider, messagesProvider] = await Promise.all([FakeProvider.start(), FakeProvider.start()]);
    chatProvider.answers(chat.behaviour);
    messagesProvider.answers(messages.behaviour);
    const key = { apiKeyEnv: 'PROVIDER_KEY' };
    service = await startGateway({
      providers: {
        openai: { kind: 'openai-compatible', baseUrl: chatProvider.baseUrl, ...key },
        anthropic: { kind: 'anthropic', baseUrl: messagesProvider.baseUrl, ...key },
        sandbox: { kind: 'sandbox' },
      },
      models: {
        'on-chat': { targets: [{ provider: 'openai', model: 'gpt-x' }] },
        'on-messages': { targets: [{ provider: 'anthropic', model: 'claude-x' }] },
        sandbox: { targets: [{ provider: 'sandbox', model: 'sandbox' }] },
      },
    });
  });
  after(async () => {
    await service.stop();
    await Promise.all([chatProvider.stop(), messagesProvider.stop()]);
  });
  beforeEach(() => {
    for (const provider of [chat, messages]) provider.refusals.length = 0;
  });

  const refusalsOf = (...providers: ReadonlyArray<StrictProvider>) => providers.flatMap(({ refusals }) => refusals);

  const clients: ReadonlyArray<Client> = [
    { name: 'openai', converse: (model, isStreamed) => converseWithOpenAi(service.url, model, isStreamed) },
    {
      name: 'ai with @ai-sdk/openai',
      converse: (model, isStreamed) =>
        converseWithAiSdk(createOpenAI({ baseURL: `${service.url}/v1`, apiKey: goodKey }).chat(model), isStreamed),
    },
    {
      name: 'ai with @ai-sdk/anthropic',
      converse: (model, isStreamed) => converseWithAiSdk(anthropicProvider(service.url)(model), isStreamed),
    },
    {
      name: '@langchain/openai',
      converse: (model, isStreamed) =>
        converseWithLangChain(
          new ChatOpenAI({
            model,
            apiKey: goodKey,
            configuration: { baseURL: `${service.url}/v1` },
          }),
          isStreamed,
        ),
    },
    {
      name: '@langchain/anthropic',
      converse: (model, isStreamed) =>
        converseWithLangChain(
          new ChatAnthropic({
            model,
            apiKey: goodKey,
            anthropicApiUrl: service.url,
            maxTokens: 500,
          }),
          isStreamed,
        ),
    },
  ];

  for (const { name, converse } of clients)
    describe(name, () => {
      for (const model of ['on-chat', 'on-messages'])
        for (const way of ['whole', 'streamed'] as const)
          it(`calls a tool twice and uses its results, ${way}, with a target ${model}`, async () => {
            assert.deepEqual([await converse(model, way === 'streamed'), refusalsOf(chat, messages)], [expected, []]);
            assert.equal(service.records.at(-1)?.outcome, 'served');
          });
    });

  describe('Anthropic’s client', () => {
    const client = () => new Anthropic({ baseURL: service.url, apiKey: goodKey, maxRetries: 0 });
    const ask = { max_tokens: 200, messages: [{ role: 'user' as const, content: 'Good morning' }] };

    it('gets the usage of the sandbox, whole and streamed alike', async () => {
      const model = 'sandbox';
      const whole = await client().messages.create({ model, ...ask });
      const streamed = await client()
        .messages.stream({ model, ...ask })
        .finalMessage();
      assert.deepEqual(streamed.content, whole.content);
      assert.equal(whole.stop_reason, 'end_turn');
      assert.equal(streamed.stop_reason, 'end_turn');
      const tokens = service.records.at(-2)?.tokens;
      const { input_tokens: input, cache_read_input_tokens: cached } = whole.usage;
      assert.equal(input + (cached ?? 0), tokens?.input);
      assert.equal(whole.usage.output_tokens, tokens?.output);
    });

    it('counts tokens: the provider does, or the gateway estimates and says so', async () => {
      const { model: _, ...counted } = { model: '', ...ask, max_tokens: undefined };
      const count = async (model: string) =>
        client().messages.countTokens({ model, messages: counted.messages }).withResponse();
      const native = await count('on-messages');
      assert.deepEqual([native.data.input_tokens, native.response.headers.get('x-switchyard-estimated')], [42, null]);
      const estimated = await count('on-chat');
      assert.deepEqual(
        [estimated.data.input_tokens, estimated.response.headers.get('x-switchyard-estimated')],
        [3, 'true'],
      );
    });

    it('lists the models, and gets one', async () => {
      const { data } = await client().models.list();
      assert.deepEqual(
        data.map(({ id, type }) => [id, type]),
        [
          ['on-chat', 'model'],
          ['on-messages', 'model'],
          ['sandbox', 'model'],
        ],
      );
      assert.equal((await client().models.retrieve('sandbox')).display_name, 'sandbox');
      await assert.rejects(client().models.retrieve('other'), (error: unknown) => {
        assert.ok(error instanceof Anthropic.NotFoundError);
        assert.equal(error.type, 'not_found_error');
        return true;
      });
    });
  });
});

async function converseWithOpenAi(url: string, model: string, isStreamed: boolean): Promise<string> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: goodKey, maxRetries: 0 });
  const runner = {
    model,
    messages: [{ role: 'user' as const, content: question }],
    tools: [
      {
        type: 'function' as const,
        function: {
          name: 'opening_hours',
          description: described,
          parameters,
          parse: JSON.parse,
          function: ({ day }: { day: string }) => hoursOf(day),
        },
      },
    ],
  };
  const running = isStreamed
    ? client.chat.completions.runTools({ ...runner, stream: true })
    : client.chat.completions.runTools(runner);
  return (await running.finalContent()) ?? '';
}

function anthropicProvider(url: string): AnthropicProvider {
  return createAnthropic({ baseURL: `${url}/v1`, apiKey: goodKey });
}

async function converseWithAiSdk(model: LanguageModel, isStreamed: boolean): Promise<string> {
  const request = {
    model,
    prompt: question,
    stopWhen: stepCountIs(5),
    maxRetries: 0,
    maxOutputTokens: 500,
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
  const tools = [
    { type: 'function' as const, function: { name: 'opening_hours', description: described, parameters } },
  ];
  const bound = model.bindTools(tools);
  const conversation: BaseMessage[] = [new HumanMessage(question)];
  for (;;) {
    const answer = isStreamed ? await streamedMessage(bound, conversation) : await bound.invoke(conversation);
    const [call] = answer.tool_calls ?? [];
    if (call === undefined) return answer.text;
    conversation.push(answer);
    const content = hoursOf(String(call.args.day));
    conversation.push(new ToolMessage({ content, tool_call_id: call.id ?? '' }));
  }
}
