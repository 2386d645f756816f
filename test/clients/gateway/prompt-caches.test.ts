import assert from 'node:assert/strict';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, type ModelMessage } from 'ai';
import OpenAI from 'openai';
import { FakeProvider } from '../../gateway/support/fake-provider.ts';
import { type GatewayService, startGateway } from '../../gateway/support/gateway-service.ts';
import { strictMessages } from '../../gateway/support/strict-messages.ts';
import { listOf } from '../../gateway/support/strict-provider.ts';
import { goodKey } from '../../http/support/fake-service.ts';

const asked = { cache_control: { type: 'ephemeral' } };
const parameters = { type: 'object' as const, properties: { day: { type: 'string' as const } } };
/** The AI SDK writes the members of these into the message or its part. */
const providerOptions = { openaiCompatible: asked };

/** A conversation with marks where a client writes them, and where Anthropic gets them. */
const clients: ReadonlyArray<readonly [string, (url: string) => Promise<unknown>, ReadonlyArray<string>]> = [
  [
    // https://github.com/anomalyco/opencode, applyCaching in packages/opencode/src/provider/transform.ts
    'OpenCode, which marks two messages of the system and the last two others, with @ai-sdk/openai-compatible',
    (url) =>
      askAiSdk(url, [
        { role: 'system', content: 'Be brief.', providerOptions },
        { role: 'system', content: 'Today is Monday.', providerOptions },
        { role: 'user', content: 'When do you open?' },
        {
          role: 'assistant',
          content: [
            {
              type: 'tool-call',
              toolCallId: 'a',
              toolName: 'opening_hours',
              input: { day: 'Monday' },
              providerOptions,
            },
          ],
        },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'a',
              toolName: 'opening_hours',
              output: { type: 'text', value: '9-17' },
              providerOptions,
            },
          ],
        },
      ]),
    ['/system/0', '/system/1', '/messages/1/0', '/messages/2/0'],
  ],
  [
    '@ai-sdk/openai-compatible, which has the only text of a message in the message',
    (url) =>
      askAiSdk(url, [
        { role: 'user', content: [{ type: 'text', text: 'A long text', providerOptions }] },
        { role: 'assistant', content: 'Yes?', providerOptions },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'When', providerOptions },
            { type: 'text', text: 'do you open?' },
          ],
        },
      ]),
    ['/messages/0/0', '/messages/1/0', '/messages/2/0'],
  ],
  [
    '@langchain/openai, in the blocks of a content',
    (url) => {
      const block = (text: string) => ({ type: 'text', text, ...asked });
      return new ChatOpenAI({ model: 'claude', apiKey: goodKey, configuration: { baseURL: `${url}/v1` } }).invoke([
        new SystemMessage({ content: [block('Be brief.')] }),
        new HumanMessage({ content: [block('When do you open?')] }),
        new AIMessage({ content: '', tool_calls: [{ id: 'a', name: 'opening_hours', args: { day: 'Monday' } }] }),
        new ToolMessage({ tool_call_id: 'a', content: [block('9-17')] }),
      ]);
    },
    ['/system/0', '/messages/0/0', '/messages/2/0'],
  ],
  [
    // https://docs.litellm.ai/docs/completion/prompt_caching and /docs/providers/anthropic
    'a client of LiteLLM’s proxy, in messages, and in or beside the function of a tool',
    (url) =>
      new OpenAI({ baseURL: `${url}/v1`, apiKey: goodKey }).chat.completions.create({
        model: 'claude',
        messages: [
          { role: 'system', content: 'Be brief.', ...asked },
          { role: 'user', content: 'When do you open?', ...asked },
        ],
        tools: [
          { type: 'function', function: { name: 'free_rooms', parameters, ...asked } },
          { type: 'function', function: { name: 'opening_hours', parameters }, ...asked },
        ],
      }),
    ['/tools/0', '/tools/1', '/system/0', '/messages/0/0'],
  ],
];

function askAiSdk(url: string, messages: ModelMessage[]): Promise<unknown> {
  const model = createOpenAICompatible({ name: 'switchyard', baseURL: `${url}/v1`, apiKey: goodKey })('claude');
  return generateText({ model, messages, allowSystemInMessages: true });
}

describe('clients that ask Anthropic to cache a prompt', function () {
  this.timeout(30_000);
  const strict = strictMessages();
  let anthropic: FakeProvider;
  let service: GatewayService;

  before(async () => {
    anthropic = await FakeProvider.start();
    anthropic.answers(strict.behaviour);
    service = await startGateway({
      providers: { anthropic: { kind: 'anthropic', baseUrl: anthropic.baseUrl, apiKeyEnv: 'PROVIDER_KEY' } },
      models: { claude: { targets: [{ provider: 'anthropic', model: 'claude-x' }] } },
    });
  });
  after(async () => {
    await service.stop();
    await anthropic.stop();
  });

  for (const [name, converse, points] of clients)
    it(`reach it: ${name}`, async () => {
      await converse(service.url);
      assert.deepEqual(strict.refusals, []);
      const { tools, system, messages } = JSON.parse(String(anthropic.seen.at(-1)?.body));
      assert.deepEqual(
        [
          ...pointsIn(tools, '/tools'),
          ...pointsIn(system, '/system'),
          ...listOf(messages).flatMap(({ content }, index) => pointsIn(content, `/messages/${index}`)),
        ],
        points,
      );
    });
});

function pointsIn(blocks: unknown, place: string): ReadonlyArray<string> {
  return listOf(blocks).flatMap((block, index) => (block.cache_control === undefined ? [] : [`${place}/${index}`]));
}
