import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chatStates } from '#test/gateway/support/chat-state.ts';
import { goodKey } from '#test/http/support/fake-service.ts';
import { long } from '#test/support/run/long.ts';
import { describeWithPythonClients, runPython } from '#test/support/service/python-clients.ts';
import { claude, complaint, expectedAnswers, LoopScenario, questions } from './loop-scenario.ts';
import { pythonScripts } from './python/scripts.ts';

for (const [name, clients] of Object.entries(pythonScripts))
  describeWithPythonClients(`loops of agents in Python, by ${name} ${long}`, () => {
    let scenario: LoopScenario;
    let outcomes: ReadonlyArray<unknown>;
    const models = [...chatStates.map(({ model }) => model), claude];
    const conversations = clients.flatMap(({ protocol }) =>
      models.flatMap((model) => [false, true].map((streamed) => ({ protocol, model, streamed }))),
    );
    const isDropped = (protocol: string, model: string) =>
      clients.some((client) => client.protocol === protocol && client.drops.some((state) => state.model === model));

    before(async () => {
      scenario = await LoopScenario.start();
      const script = readFileSync(join(import.meta.dirname, `python/${name}.py`), 'utf8');
      const output = await runPython(script, {
        URL: scenario.url,
        KEY: goodKey,
        QUESTIONS: JSON.stringify(questions),
        CONVERSATIONS: JSON.stringify(conversations),
      });
      outcomes = JSON.parse(output) as ReadonlyArray<unknown>;
    });
    after(() => scenario.stop());

    for (const [index, { protocol, model, streamed }] of conversations.entries()) {
      const title = `by ${protocol} at ${model}, ${streamed ? 'streamed' : 'whole'}`;
      if (isDropped(protocol, model))
        it(`are refused ${title}, because the SDK does not send back what that needs`, () => {
          assert.match(String(outcomes[index]), /^Error code: 400 - /);
        });
      else
        it(`call tools ${title}`, () => {
          assert.deepEqual(outcomes[index], expectedAnswers);
        });
    }

    for (const state of chatStates)
      it(`are refused by ${state.name} once each, and for what is missing alone`, () => {
        const dropped = conversations.filter(
          ({ protocol, model }) => model === state.model && isDropped(protocol, model),
        );
        const { refusals } = scenario.chat(state);
        assert.equal(refusals.length, dropped.length);
        for (const refusal of refusals) assert.match(refusal, complaint);
      });
  });
