import assert from 'node:assert/strict';
import { FakeProvider } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, startGateway } from '#test/gateway/support/gateway-service.ts';
import { strictMessages } from '#test/gateway/support/strict-messages.ts';
import { type Body, listOf, sendJson } from '#test/gateway/support/strict-provider.ts';
import { goodKey } from '#test/http/support/fake-service.ts';
import { named, play } from './stateful-providers.ts';

const day = { type: 'object', properties: { day: { type: 'string' } } };
const question = { role: 'user', content: 'When do you open?' };

interface Answered {
  readonly json: Body;
  readonly ignored: string;
}

describe('a conversation that moves to another model', () => {
  let chats: FakeProvider;
  let others: FakeProvider;
  let anthropic: FakeProvider;
  let service: GatewayService;

  before(async () => {
    [chats, others, anthropic] = await Promise.all([FakeProvider.start(), FakeProvider.start(), FakeProvider.start()]);
    const chatAt = ({ baseUrl }: FakeProvider) => ({ kind: 'openai-compatible', baseUrl, apiKeyEnv: 'PROVIDER_KEY' });
    const [first, second] = ['chats', 'others'].map((provider) => ({ provider, model: 'x', reasoning: true }));
    const claude = { provider: 'anthropic', model: 'claude-x', thinking: 'budget', maxOutputTokens: 20_000 };
    service = await startGateway({
      providers: {
        chats: chatAt(chats),
        others: chatAt(others),
        anthropic: { kind: 'anthropic', baseUrl: anthropic.baseUrl, apiKeyEnv: 'PROVIDER_KEY' },
      },
      models: {
        thinker: { targets: [first], retries: 0 },
        'thinker-always': { targets: [{ ...first, returnsReasoning: 'always' }], retries: 0 },
        claude: { targets: [claude], retries: 0 },
        'thinker-or-other': { targets: [first], fallbacks: [{ ...second }], retries: 0 },
        'thinker-or-always': { targets: [first], fallbacks: [{ ...second, returnsReasoning: 'always' }], retries: 0 },
        'thinker-or-claude': { targets: [first], fallbacks: [claude], retries: 0 },
      },
    });
  });
  after(async () => {
    await service.stop();
    await Promise.all([chats.stop(), others.stop(), anthropic.stop()]);
  });

  const post = async (path: string, body: object): Promise<Answered> => {
    const answer = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${goodKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const json = (await answer.json()) as Body;
    assert.equal(answer.status, 200, JSON.stringify(json));
    return { json, ignored: answer.headers.get('x-switchyard-ignored') ?? '' };
  };

  /** The client protocols, as far as these conversations need them. */
  const clients = {
    messages: {
      ask: (model: string, said: ReadonlyArray<object>) =>
        post('/v1/messages', {
          ...{ model, max_tokens: 8_000, thinking: { type: 'enabled', budget_tokens: 2_000 } },
          ...{ messages: [question, ...said], tools: [{ name: 'opening_hours', input_schema: day }] },
        }),
      said: ({ json: { content } }: Answered) => [
        { role: 'assistant', content },
        {
          role: 'user',
          content: listOf(content).flatMap(({ type, id }) =>
            type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: id, content: 'nine' }] : [],
          ),
        },
      ],
    },
    responses: {
      ask: (model: string, said: ReadonlyArray<object>) =>
        post('/v1/responses', {
          ...{
            model,
            store: false,
            reasoning: { effort: 'low' },
            input: [question, ...said],
            max_output_tokens: 8_000,
          },
          tools: [{ type: 'function', name: 'opening_hours', parameters: day, strict: false }],
        }),
      said: ({ json: { output } }: Answered) => [
        ...listOf(output),
        ...listOf(output).flatMap(({ type, call_id: id }) =>
          type === 'function_call' ? [{ type: 'function_call_output', call_id: id, output: 'nine' }] : [],
        ),
      ],
    },
    chat: {
      ask: (model: string, said: ReadonlyArray<object>) =>
        post('/v1/chat/completions', {
          ...{ model, reasoning_effort: 'low', messages: [question, ...said], max_tokens: 8_000 },
          tools: [{ type: 'function', function: { name: 'opening_hours', parameters: day } }],
        }),
      said: ({ json: { choices } }: Answered) => {
        const message = listOf(choices)[0]?.message as Body;
        const results = listOf(message.tool_calls).map(({ id }) => ({
          role: 'tool',
          tool_call_id: id,
          content: 'nine',
        }));
        return [message, ...results];
      },
    },
  };

  const failing = (at: FakeProvider) => at.answers((res) => sendJson(res, { error: { message: 'down' } }, 500));
  const sentTo = (at: FakeProvider): string => String(at.seen.at(-1)?.body);

  for (const name of ['messages', 'responses'] as const)
    for (const provider of ['DeepSeek', 'OpenRouter', 'Gemini', 'a model that does not think'])
      it(`from ${provider} to Claude and back carries nothing of one to the other, of a client of ${name}`, async () => {
        const { ask, said } = clients[name];
        const strictChats = play(named(provider), 'none of others');
        const claude = strictMessages();
        chats.answers(strictChats.behaviour);
        anthropic.answers(claude.behaviour);
        const first = await ask('thinker', []);
        const atChats = said(first);
        const second = await ask('claude', atChats);
        assert.doesNotMatch(sentTo(anthropic), /switchyard|secret-|sig-|Cr\+|~/);
        assert.equal(JSON.parse(sentTo(anthropic)).thinking, undefined, 'no thinking in a turn of calls of another');
        assert.match(second.ignored, name === 'messages' ? /\/thinking/ : /\/reasoning/);
        await ask('thinker', [...atChats, ...said(second)]);
        assert.doesNotMatch(sentTo(chats), /signed|switchyard|~/);
        assert.deepEqual([strictChats.refusals, claude.refusals], [[], []]);
      });

  for (const name of ['messages', 'responses'] as const)
    for (const provider of ['DeepSeek', 'OpenRouter', 'Gemini', 'a model that does not think'])
      for (const [model, target] of [
        ['thinker-or-other', () => others],
        ['thinker-or-always', () => others],
        ['thinker-or-claude', () => anthropic],
      ] as const)
        it(`from ${provider} by a fallback, ${model}, carries nothing of it, of a client of ${name}`, async () => {
          const { ask, said } = clients[name];
          chats.answers(play(named(provider), 'none of others').behaviour);
          others.answers(play(named('DeepSeek'), 'none of others').behaviour);
          anthropic.answers(strictMessages().behaviour);
          const first = await ask(model, []);
          failing(chats);
          const { ignored } = await ask(model, said(first));
          assert.doesNotMatch(sentTo(target()), /I need|switchyard|secret-|sig-|Cr\+|~/);
          if (provider !== 'a model that does not think') assert.notEqual(ignored, '');
        });

  it('from Claude to a provider of chats has no details of the gateway, of a client of chats', async () => {
    const { ask, said } = clients.chat;
    anthropic.answers(strictMessages().behaviour);
    const strictChats = play(named('DeepSeek'), 'none of others');
    chats.answers(strictChats.behaviour);
    const atClaude = said(await ask('claude', []));
    assert.match(JSON.stringify(atClaude), /"reasoning_details":\[\{[^}]*"provider":"anthropic-messages"/);
    const { ignored } = await ask('thinker', atClaude);
    assert.deepEqual(strictChats.refusals, []);
    const [, message] = listOf(JSON.parse(sentTo(chats)).messages);
    const { reasoning_details: _, ...rest } = atClaude[0] as Body;
    assert.deepEqual(message, rest, 'all other members are as the client sent them');
    assert.equal(ignored, '/messages/*/reasoning_details');
    const again = await ask('claude', atClaude);
    assert.equal(again.ignored, '');
    assert.match(sentTo(anthropic), /"signature":"signed/);
  });
});
