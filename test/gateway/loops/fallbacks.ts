import assert from 'node:assert/strict';
import { deepSeek, gemini } from '#test/gateway/support/chat-state.ts';
import { FakeProvider, json } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, startGateway } from '#test/gateway/support/gateway-service.ts';
import { rulesOfChats, strictChat } from '#test/gateway/support/strict-chat.ts';
import { strictMessages } from '#test/gateway/support/strict-messages.ts';
import { strictResponses } from '#test/gateway/support/strict-responses.ts';
import { aiSdkClients, type Begin } from './loop-client.ts';
import { loopingChat, loopingMessages } from './looping-providers.ts';

const chat = { kind: 'openai-compatible', target: { reasoning: true } };
const messages = { kind: 'anthropic', target: { thinking: 'budget' } };
const responses = {
  kind: 'openai-compatible',
  responses: true,
  target: { reasoning: true, protocol: 'openai-responses' },
};

/** A chat that is not translated keeps the texts of thoughts that its client sends, as vLLM takes them. */
const takingThoughts = () => strictChat(undefined, rulesOfChats({ message: ['reasoning_content'], call: [] }));

/** The provider of the first step of a loop, and that of the rest, which takes no state of the first. */
const pairs = [
  {
    name: 'DeepSeek and then Claude',
    first: { ...chat, strict: () => loopingChat(deepSeek) },
    second: { ...messages, strict: strictMessages },
  },
  {
    name: 'Gemini and then Claude',
    first: { ...chat, strict: () => loopingChat(gemini) },
    second: { ...messages, strict: strictMessages },
  },
  {
    name: 'Claude and then vLLM',
    first: { ...messages, strict: loopingMessages },
    second: { ...chat, strict: takingThoughts },
  },
  {
    name: 'Gemini and then Responses',
    first: { ...chat, strict: () => loopingChat(gemini) },
    second: { ...responses, strict: strictResponses },
  },
];

/** Runs loops whose provider fails after its first step. Call it in the callback of `describe`. */
export function expectFallbacks(begin: Begin): void {
  let providers: readonly [FakeProvider, FakeProvider];
  let service: GatewayService;

  before(async () => {
    providers = await Promise.all([FakeProvider.start(), FakeProvider.start()]);
  });
  after(() => Promise.all(providers.map((provider) => provider.stop())));
  afterEach(() => service.stop());

  for (const { name, first, second } of pairs)
    for (const client of aiSdkClients)
      it(`continues after ${name}, with ${client.name}`, async () => {
        const model = name.replaceAll(' ', '-');
        const [before, after] = [first.strict(), second.strict()];
        providers[0].answers(before.behaviour, json({ error: { message: 'down' } }, 500));
        providers[1].answers(after.behaviour);
        service = await startGateway({
          providers: Object.fromEntries(
            [first, second].map(({ strict: _, target: __, ...entry }, index) => [
              `provider-${index}`,
              { ...entry, baseUrl: providers[index]?.baseUrl, apiKeyEnv: 'PROVIDER_KEY' },
            ]),
          ),
          models: {
            [model]: {
              targets: [{ provider: 'provider-0', model: 'x', ...first.target }],
              fallbacks: [{ provider: 'provider-1', model: 'x', ...second.target }],
              retries: 0,
            },
          },
        });
        const ask = begin(client, { url: service.url, model, isStreamed: true });
        const answer = await ask('When do you open?').catch(String);
        assert.deepEqual([before.refusals, after.refusals, answer], [[], [], 'Open Monday 9-17 and Tuesday 9-17 ✓']);
      });
}
