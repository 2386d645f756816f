import assert from 'node:assert/strict';
import { chatStates } from '#test/gateway/support/chat-state.ts';
import { type Begin, isDropped, type LoopClient, loopClients } from './loop-client.ts';
import { claude, complaint, expectedAnswers, LoopScenario, questions } from './loop-scenario.ts';
import { expectedText } from './looping-providers.ts';

/** Runs agents at providers that refuse a later request without what they gave. */
export class Loops {
  #scenario: LoopScenario | null = null;
  readonly #begin: Begin;

  /** Call it in the callback of `describe`. */
  constructor(begin: Begin) {
    this.#begin = begin;
    before(async () => {
      this.#scenario = await LoopScenario.start();
    });
    after(() => this.#scenario?.stop());
    beforeEach(() => this.#scenario?.forgetAll());
  }

  /** Expects that every provider gets what it needs from the clients that send it. */
  expectAnswers(isStreamed: boolean): void {
    for (const client of loopClients)
      describe(`${client.name}, ${isStreamed ? 'streamed' : 'whole'}`, () => {
        for (const state of chatStates.filter((each) => !isDropped(each, client, isStreamed)))
          it(`give ${state.name} back what that needs`, async () => {
            const answers = await this.#answers(client, state.model, isStreamed);
            assert.deepEqual([this.#running.chat(state).refusals, answers], [[], expectedAnswers]);
          });

        it(`call tools of Claude, which ${client.keepsThoughts ? 'gets its thoughts back' : 'thinks once in a turn'}`, async () => {
          const answers = await this.#answers(client, claude, isStreamed);
          assert.deepEqual([this.#running.claude.refusals, answers], [[], expectedAnswers]);
          const inTurn = [true, client.keepsThoughts, client.keepsThoughts];
          assert.deepEqual(this.#running.claude.thinking, [...inTurn, ...inTurn, ...inTurn]);
        });
      });
  }

  /** Expects that a provider refuses the clients that drop what it needs. */
  expectRefusals(isStreamed: boolean): void {
    for (const client of loopClients)
      for (const state of chatStates.filter((each) => isDropped(each, client, isStreamed)))
        it(`of ${client.name}, ${isStreamed ? 'streamed' : 'whole'}, are refused by ${state.name}, because it does not send back what that needs`, async () => {
          const answers = await this.#answers(client, state.model, isStreamed);
          assert.notEqual(answers[0], expectedText);
          assert.match(this.#running.chat(state).refusals.at(0) ?? '', complaint);
        });
  }

  get #running(): LoopScenario {
    return this.#scenario ?? assert.fail('it is not started');
  }

  /** @returns what the agent says, or why it says nothing */
  async #answers(client: LoopClient, model: string, isStreamed: boolean): Promise<ReadonlyArray<string>> {
    const ask = this.#begin(client, { url: this.#running.url, model, isStreamed });
    const answers: string[] = [];
    try {
      for (const question of questions) answers.push(await ask(question));
      return answers;
    } catch (error) {
      return [String(error)];
    }
  }
}
