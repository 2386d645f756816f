import assert from 'node:assert/strict';
import type { Outcome, Question } from '#test/gateway/matrix/exchange.ts';
import { type Begin, type Conversation, type MatrixClient, matrixClients } from '#test/gateway/matrix/matrix-client.ts';
import { resultsOf } from '#test/gateway/matrix/play.ts';
import { FakeProvider } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, startGateway } from '#test/gateway/support/gateway-service.ts';
import { deepSeek, play, type StatefulProvider, statefulProviders, type Wanted } from './stateful-providers.ts';

const question: Question = {
  system: 'Be brief.',
  content: [{ kind: 'text', text: 'When do you open?' }],
  tools: [
    {
      name: 'opening_hours',
      description: 'When it is open on a day',
      schema: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
    },
  ],
  schema: null,
  thinks: true,
};

const translated = matrixClients.filter(({ protocol }) => protocol !== 'openai-chat');
const native = matrixClients.filter(({ protocol }) => protocol === 'openai-chat');
const modes = [undefined, 'tools', 'always', 'never'] as const;
type Mode = (typeof modes)[number];
const modelOf = (mode: Mode) => mode ?? 'default';

/** Expects that a provider of chats gets what it needs back. Call it in the callback of `describe`. */
export function expectReturnedState(begin: Begin): void {
  let at: FakeProvider;
  let service: GatewayService;

  before(async () => {
    at = await FakeProvider.start();
    const target = { provider: 'chats', model: 'x', reasoning: true };
    service = await startGateway({
      providers: { chats: { kind: 'openai-compatible', baseUrl: at.baseUrl, apiKeyEnv: 'PROVIDER_KEY' } },
      models: Object.fromEntries(
        modes.map((mode) => [modelOf(mode), { targets: [{ ...target, returnsReasoning: mode }], retries: 0 }]),
      ),
    });
  });
  after(async () => {
    await service.stop();
    await at.stop();
  });

  /** Plays a provider to a client that asks two questions, of which each takes two rounds of calls. */
  const converse = async (
    client: MatrixClient,
    provider: StatefulProvider,
    { isStreamed = false, mode, wanted }: { isStreamed?: boolean; mode?: Mode; wanted: Wanted },
  ) => {
    const strict = play(provider, wanted);
    const ignored: string[] = [];
    at.answers(strict.behaviour);
    const conversation = begin(client, {
      name: `${client.protocol} at ${provider.name}, ${modelOf(mode)}, ${isStreamed ? 'streamed' : 'whole'}`,
      url: service.url,
      model: modelOf(mode),
      isStreamed,
      fetch: async (...request) => {
        const answer = await fetch(...request);
        ignored.push(answer.headers.get('x-switchyard-ignored') ?? '');
        return answer;
      },
    });
    const outcomes = [await conversation.ask(question)];
    const end = await callsAnswered(conversation, outcomes);
    if (end === 'answer') {
      outcomes.push(await conversation.giveResults(new Map(), 'And on Sunday?'));
      await callsAnswered(conversation, outcomes);
    }
    return { outcomes, refusals: strict.refusals, ignored };
  };

  for (const client of translated)
    for (const provider of statefulProviders)
      for (const isStreamed of [false, true])
        it(`goes back from a client of ${client.protocol} to ${provider.name}, ${isStreamed ? 'streamed' : 'whole'}`, async () => {
          const { outcomes, refusals, ignored } = await converse(client, provider, {
            isStreamed,
            wanted: 'since the last question',
          });
          assert.deepEqual(refusals, []);
          assert.deepEqual(outcomes.map(reasonOf), [
            'tool-calls',
            'tool-calls',
            'stop',
            'tool-calls',
            'tool-calls',
            'stop',
          ]);
          assert.deepEqual(ignored.slice(0, 3), ['', '', ''], 'nothing of the first question is left out');
          const hasReasoning = Object.keys(provider.given(0)).length > 0;
          assert.equal(ignored[3] !== '', hasReasoning, 'the reasoning of the first question is named');
        });

  for (const client of native)
    for (const isStreamed of [false, true])
      it(`passes as a client of chats sends it, ${isStreamed ? 'streamed' : 'whole'}`, async () => {
        const { outcomes, refusals } = await converse(client, deepSeek, { isStreamed, wanted: 'all with calls' });
        assert.deepEqual([refusals, outcomes.length], [[], 6]);
      });

  for (const client of translated) {
    for (const provider of statefulProviders)
      it(`is all reasoning of ${provider.name} with "always", of a client of ${client.protocol}`, async () => {
        const { outcomes, refusals, ignored } = await converse(client, provider, {
          mode: 'always',
          wanted: 'all with calls',
        });
        assert.deepEqual([refusals, outcomes.length], [[], 6]);
        assert.deepEqual(new Set(ignored), new Set(['']));
      });

    it(`is none with "never", which is named, of a client of ${client.protocol}`, async () => {
      const { refusals, ignored } = await converse(client, deepSeek, { mode: 'never', wanted: 'none' });
      assert.deepEqual(refusals, []);
      assert.notEqual(ignored[1], '');
    });
  }
}

async function callsAnswered(conversation: Conversation, outcomes: Outcome[]): Promise<Outcome['kind']> {
  for (let latest = outcomes.at(-1); latest?.kind === 'answer' && latest.calls.length > 0; latest = outcomes.at(-1))
    outcomes.push(await conversation.giveResults(resultsOf(latest), ''));
  return outcomes.at(-1)?.kind ?? 'error';
}

function reasonOf(outcome: Outcome): string {
  return outcome.kind === 'answer' ? outcome.reason : `${outcome.status} ${outcome.code}`;
}
