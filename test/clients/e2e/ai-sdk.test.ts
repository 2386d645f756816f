import assert from 'node:assert/strict';
import { createOpenAICompatible, type OpenAICompatibleProvider } from '@ai-sdk/openai-compatible';
import { APICallError, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { GatewayScenario, toolCallAnswer, toolCallDeltas } from '../../e2e/support/gateway-scenario.ts';
import {
  chunk,
  completion,
  done,
  error,
  json,
  role,
  stop,
  stream,
  words,
} from '../../gateway/support/fake-provider.ts';
import { adminKey } from '../../support/service/service-process.ts';

/** The AI SDK's client for OpenAI-compatible services, with the service's address. */
describe('the AI SDK', function () {
  this.timeout(180_000);
  let scenario: GatewayScenario;
  let switchyard: OpenAICompatibleProvider;
  const asked: string[] = [];
  const tools = {
    opening_hours: tool({
      description: 'When it is open',
      inputSchema: jsonSchema<{ day: string }>({
        type: 'object',
        properties: { day: { type: 'string' } },
        required: ['day'],
      }),
      execute: async ({ day }) => {
        asked.push(day);
        return '9-17';
      },
    }),
  };

  before(async () => {
    scenario = await GatewayScenario.begin();
    switchyard = createOpenAICompatible({
      name: 'switchyard',
      apiKey: adminKey,
      baseURL: scenario.baseURL,
      includeUsage: true,
    });
  });
  after(() => scenario.end());
  beforeEach(() => {
    asked.length = 0;
    scenario.primary.answers(json(completion('from the primary')));
    scenario.backup.answers(json(completion('from the backup')));
  });

  it('generates a text', async () => {
    const { text, usage, finishReason } = await generateText({ model: switchyard('large'), prompt: 'Hello' });
    assert.equal(text, 'from the primary');
    assert.equal(finishReason, 'stop');
    assert.deepEqual([usage.inputTokens, usage.outputTokens], [5, 7]);
  });

  it('generates a text with the sandbox', async () => {
    const { text } = await generateText({ model: switchyard('sandbox'), prompt: 'Hello there' });
    assert.match(text, /You said: Hello there$/);
  });

  it('streams a text with its usage', async () => {
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    const last = `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'gpt-x', choices: [], usage })}\n\n`;
    scenario.primary.answers(stream([role, ...words('Grüß ', 'Gott 😀'), stop, last, done], { gapMs: 1 }));
    const answer = streamText({ model: switchyard('large'), prompt: 'Hello' });
    let text = '';
    for await (const piece of answer.textStream) text += piece;
    assert.equal(text, 'Grüß Gott 😀');
    assert.deepEqual([(await answer.usage).inputTokens, (await answer.usage).outputTokens], [3, 2]);
  });

  for (const way of ['whole', 'streamed'] as const)
    it(`calls tools, ${way}, and continues with their results`, async () => {
      const deltas = toolCallDeltas.map((delta) => chunk(delta));
      const [call, end] =
        way === 'whole'
          ? [json(toolCallAnswer), json(completion('Von neun bis fünf.'))]
          : [
              stream([...deltas, chunk({}, 'tool_calls'), done]),
              stream([role, ...words('Von neun ', 'bis fünf.'), stop, done]),
            ];
      scenario.primary.answers(call, end);
      const asking = { model: switchyard('large'), prompt: 'Wann am Montag?', tools, stopWhen: stepCountIs(3) };
      const text = way === 'whole' ? (await generateText(asking)).text : await streamText(asking).text;
      assert.equal(text, 'Von neun bis fünf.');
      assert.deepEqual(asked, ['Montag']);
      const { messages } = JSON.parse(String(scenario.primary.seen[1]?.body)) as { messages: { role: string }[] };
      assert.deepEqual(
        messages.map((message) => message.role),
        ['user', 'assistant', 'tool'],
      );
    });

  describe('errors', () => {
    const refusalOf = async (call: PromiseLike<unknown>): Promise<APICallError> => {
      try {
        await call;
      } catch (refusal) {
        assert.ok(APICallError.isInstance(refusal), String(refusal));
        return refusal;
      }
      return assert.fail('the call was not refused');
    };

    it('reports an unknown model without a retry', async () => {
      const refusal = await refusalOf(generateText({ model: switchyard('gpt-9'), prompt: 'Hello' }));
      assert.deepEqual([refusal.statusCode, refusal.isRetryable], [404, false]);
      assert.match(refusal.message, /There is no model .gpt-9. here/);
    });

    it('reports an unavailable provider as retryable', async () => {
      scenario.primary.answers(error(503, 'overloaded'));
      const refusal = await refusalOf(generateText({ model: switchyard('alone'), prompt: 'Hello', maxRetries: 0 }));
      assert.deepEqual([refusal.statusCode, refusal.isRetryable], [503, true]);
      assert.match(refusal.message, /The provider is overloaded or down/);
    });

    it('reports a stream that broke in the middle', async () => {
      scenario.primary.answers(stream([role, ...words('half ')], { after: 'cut' }));
      const answer = streamText({ model: switchyard('alone'), prompt: 'Hello', onError: () => undefined });
      let text = '';
      let broken: unknown = null;
      for await (const part of answer.fullStream) {
        if (part.type === 'text-delta') text += part.text;
        if (part.type === 'error') broken = part.error;
      }
      assert.equal(text, 'half ');
      assert.match(JSON.stringify(broken) + String(broken), /connection to the provider broke/);
    });
  });
});
