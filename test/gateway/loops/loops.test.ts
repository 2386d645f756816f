import assert from 'node:assert/strict';
import { chatStates } from '#test/gateway/support/chat-state.ts';
import { long } from '#test/support/run/long.ts';
import { agentsSdkClients } from './clients/agents-sdk.ts';
import { aiSdkClients } from './clients/ai-sdk.ts';
import { langChainClients } from './clients/langchain.ts';
import { isDropped, type LoopClient } from './clients/loop-client.ts';
import { claude, complaint, expectedAnswers, LoopScenario, questions } from './loop-scenario.ts';
import { expectedText } from './looping-providers.ts';

const clients: ReadonlyArray<LoopClient> = [...aiSdkClients, ...agentsSdkClients, ...langChainClients];

describe('loops of agents', function () {
  this.timeout(30_000);
  let scenario: LoopScenario;

  before(async () => {
    scenario = await LoopScenario.start();
  });
  after(() => scenario.stop());
  beforeEach(() => scenario.forgetRefusals());

  const converse = async ({ begin }: LoopClient, model: string, isStreamed: boolean) => {
    const ask = begin({ url: scenario.url, model, isStreamed });
    const answers: string[] = [];
    for (const question of questions) answers.push(await ask(question));
    return answers;
  };
  const failureOf = (error: unknown) => [String(error)];

  for (const client of clients)
    for (const isStreamed of [false, true])
      describe(`${client.name}, ${isStreamed ? 'streamed' : `whole ${long}`}`, () => {
        for (const state of chatStates) {
          if (isDropped(state, client, isStreamed))
            it(`are refused by ${state.name}, because it does not send back what that needs ${long}`, async () => {
              const answers = await converse(client, state.model, isStreamed).catch(failureOf);
              assert.notEqual(answers[0], expectedText);
              assert.match(scenario.chat(state).refusals.at(0) ?? '', complaint);
            });
          else
            it(`give ${state.name} back what that needs`, async () => {
              const answers = await converse(client, state.model, isStreamed).catch(failureOf);
              assert.deepEqual([scenario.chat(state).refusals, answers], [[], expectedAnswers]);
            });
        }

        it(`call tools of Claude, which ${client.keepsThoughts ? 'gets its thoughts back' : 'thinks once in a turn'}`, async () => {
          const answers = await converse(client, claude, isStreamed).catch(failureOf);
          assert.deepEqual([scenario.claude.refusals, answers], [[], expectedAnswers]);
          const inTurn = [true, client.keepsThoughts, client.keepsThoughts];
          assert.deepEqual(scenario.claude.thinking, [...inTurn, ...inTurn, ...inTurn]);
        });
      });
});
