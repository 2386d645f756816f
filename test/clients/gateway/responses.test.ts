import assert from 'node:assert/strict';
import { createOpenAI } from '@ai-sdk/openai';
import { type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { Agent, tool as agentTool, handoff, OpenAIProvider, Runner, setTracingDisabled } from '@openai/agents';
import { generateText, jsonSchema, type ModelMessage, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { FakeProvider, json } from '../../gateway/support/fake-provider.ts';
import { type GatewayService, startGateway } from '../../gateway/support/gateway-service.ts';
import { strictChat } from '../../gateway/support/strict-chat.ts';
import { strictMessages } from '../../gateway/support/strict-messages.ts';
import { strictResponses } from '../../gateway/support/strict-responses.ts';
import { goodKey } from '../../http/support/fake-service.ts';

const parameters = {
  type: 'object' as const,
  properties: { day: { type: 'string' as const } },
  required: ['day'],
  additionalProperties: false as const,
};
const described = 'When it is open on a day';
const hoursOf = (day: string) => `${day} 9-17`;
/** A provider says it only if it has seen the results of both calls. */
const expected = 'Open Monday 9-17 and Tuesday 9-17 ✓';
const questions = ['When do you open?', 'Say it again.', 'And again.'];

/** Asks one question of a conversation. Resolves with the answer's text. */
type Ask = (question: string) => Promise<string>;

interface Client {
  readonly name: string;
  /** Begins a conversation. */
  readonly begin: (url: string, model: string, isStreamed: boolean) => Ask;
}

const clients: ReadonlyArray<Client> = [
  { name: 'openai', begin: beginWithOpenAi },
  { name: '@openai/agents', begin: beginWithAgents },
  { name: 'ai with @ai-sdk/openai', begin: beginWithAiSdk },
  { name: '@langchain/openai', begin: beginWithLangChain },
];

describe('official clients of Responses', function () {
  this.timeout(60_000);
  const first = strictResponses('first');
  const second = strictResponses('second');
  const [chat, messages] = [strictChat(), strictMessages()];
  const strict = [first, second, chat, messages];
  let providers: ReadonlyArray<FakeProvider>;
  let service: GatewayService;

  before(async () => {
    setTracingDisabled(true);
    providers = await Promise.all(strict.map(() => FakeProvider.start()));
    const key = { apiKeyEnv: 'PROVIDER_KEY' };
    const [one, two, three, four] = providers.map(({ baseUrl }) => baseUrl);
    const target = (provider: string) => ({ provider, model: `${provider}-x`, reasoning: provider.length > 4 });
    const model = (primary: string, fallback: string) => ({
      targets: [target(primary)],
      fallbacks: [target(fallback)],
      retries: 0,
    });
    service = await startGateway({
      providers: {
        first: { kind: 'openai-compatible', baseUrl: one, responses: true, ...key },
        second: { kind: 'openai-compatible', baseUrl: two, responses: true, ...key },
        chat: { kind: 'openai-compatible', baseUrl: three, ...key },
        messages: { kind: 'anthropic', baseUrl: four, ...key },
      },
      models: {
        'responses-then-others': model('first', 'second'),
        'responses-then-messages': model('first', 'messages'),
        'chat-then-responses': model('chat', 'first'),
        'messages-then-chat': model('messages', 'chat'),
      },
    });
  });
  after(async () => {
    await service.stop();
    await Promise.all(providers.map((provider) => provider.stop()));
  });
  beforeEach(() => {
    for (const [index, { behaviour, refusals }] of strict.entries()) {
      providers[index]?.answers(behaviour);
      refusals.length = 0;
    }
  });

  const refusals = () => strict.flatMap((each) => each.refusals);
  const primaryOf = (model: string) => ['responses', '', 'chat', 'messages'].indexOf(model.split('-')[0] ?? '');

  for (const { name, begin } of clients)
    describe(name, () => {
      for (const model of [
        'responses-then-others',
        'responses-then-messages',
        'chat-then-responses',
        'messages-then-chat',
      ])
        for (const way of ['whole', 'streamed'] as const)
          it(`has a conversation of three turns, ${way}, with ${model}`, async () => {
            const ask = begin(service.url, model, way === 'streamed');
            const primary = primaryOf(model);
            const answers: string[] = [];
            for (const [index, question] of questions.entries()) {
              const isDown = index === 1;
              providers[primary]?.answers(
                isDown ? json({ error: { message: 'down' } }, 500) : (strict[primary]?.behaviour ?? assert.fail()),
              );
              answers.push(await ask(question));
            }
            assert.deepEqual([answers, refusals()], [[expected, expected, expected], []]);
          });
    });
});

function openAiAt(url: string): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: goodKey, maxRetries: 0 });
}

/** Names the response before, and sends only what is new. */
function beginWithOpenAi(url: string, model: string, isStreamed: boolean): Ask {
  const client = openAiAt(url);
  let previous: string | null = null;
  const create = async (input: OpenAI.Responses.ResponseInput) => {
    const tools: OpenAI.Responses.Tool[] = [
      { type: 'function', name: 'opening_hours', description: described, parameters, strict: true },
    ];
    const request = { model, input, tools, previous_response_id: previous, instructions: 'Be brief.' };
    const response: OpenAI.Responses.Response = isStreamed
      ? await client.responses.stream(request).finalResponse()
      : await client.responses.create(request);
    assert.deepEqual([response.previous_response_id, response.status], [previous, 'completed']);
    previous = response.id;
    return response;
  };
  return async (question) => {
    let response = await create([{ role: 'user', content: question }]);
    for (;;) {
      const calls = response.output.filter((item) => item.type === 'function_call');
      if (calls.length === 0) return response.output_text;
      response = await create(
        calls.map(({ call_id, arguments: given }) => ({
          type: 'function_call_output',
          call_id,
          output: hoursOf(JSON.parse(given).day),
        })),
      );
    }
  };
}

/** Hands the conversation over to an agent with two tools. */
function beginWithAgents(url: string, model: string, isStreamed: boolean): Ask {
  const provider = new OpenAIProvider({ openAIClient: openAiAt(url), useResponses: true });
  const runner = new Runner({ modelProvider: provider, tracingDisabled: true });
  const hours = agentTool({
    name: 'opening_hours',
    description: described,
    parameters: { ...parameters, additionalProperties: false },
    strict: true,
    execute: (input) => hoursOf((input as { day: string }).day),
  });
  const rooms = agentTool({
    name: 'free_rooms',
    description: 'Which rooms are free',
    parameters: { type: 'object', properties: {}, required: [], additionalProperties: false },
    strict: true,
    execute: () => 'none',
  });
  const desk = new Agent({ name: 'Desk', instructions: 'Be brief.', model, tools: [hours, rooms] });
  const greeter = new Agent({
    name: 'Greeter',
    instructions: 'Hand over.',
    model,
    tools: [hours],
    handoffs: [handoff(desk)],
  });
  let previousResponseId: string | undefined;
  return async (question) => {
    const options = { maxTurns: 10, ...(previousResponseId === undefined ? {} : { previousResponseId }) };
    if (isStreamed) {
      const result = await runner.run(greeter, question, { ...options, stream: true });
      await result.completed;
      previousResponseId = result.lastResponseId;
      return String(result.finalOutput);
    }
    const result = await runner.run(greeter, question, options);
    previousResponseId = result.lastResponseId;
    return String(result.finalOutput);
  };
}

/** Names the items of earlier turns, which are stored. */
function beginWithAiSdk(url: string, model: string, isStreamed: boolean): Ask {
  const conversation: ModelMessage[] = [];
  return async (question) => {
    conversation.push({ role: 'user', content: question });
    const request = {
      model: createOpenAI({ baseURL: `${url}/v1`, apiKey: goodKey })(model),
      messages: conversation,
      stopWhen: stepCountIs(5),
      maxRetries: 0,
      tools: {
        opening_hours: tool({
          description: described,
          inputSchema: jsonSchema<{ day: string }>(parameters),
          execute: async ({ day }) => hoursOf(day),
        }),
      },
    };
    const result = isStreamed ? streamText(request) : await generateText(request);
    const text = await result.text;
    conversation.push(...(await result.response).messages);
    return text;
  };
}

function beginWithLangChain(url: string, model: string, isStreamed: boolean): Ask {
  const chat = new ChatOpenAI({
    model,
    apiKey: goodKey,
    useResponsesApi: true,
    streaming: isStreamed,
    maxRetries: 0,
    configuration: { baseURL: `${url}/v1` },
  });
  const bound = chat.bindTools([
    { type: 'function' as const, function: { name: 'opening_hours', description: described, parameters } },
  ]);
  const conversation: BaseMessage[] = [];
  return async (question) => {
    conversation.push(new HumanMessage(question));
    for (;;) {
      const answer = await bound.invoke(conversation);
      conversation.push(answer);
      const [call] = answer.tool_calls ?? [];
      if (call === undefined) return answer.text;
      const content = hoursOf(String(call.args.day));
      conversation.push(new ToolMessage({ content, tool_call_id: call.id ?? '' }));
    }
  };
}
