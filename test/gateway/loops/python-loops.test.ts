import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ChatState,
  chatStates,
  deepSeek,
  deepSeek4,
  gemini,
  openRouter,
} from '#test/gateway/support/chat-state.ts';
import { goodKey } from '#test/http/support/fake-service.ts';
import { long } from '#test/support/run/long.ts';
import { describeWithPythonClients, runPython } from '#test/support/service/python-clients.ts';
import { claude, expectedAnswers, LoopScenario, questions } from './loop-scenario.ts';

/** An SDK for Python by one protocol. */
interface PythonClient {
  readonly protocol: 'chat' | 'Responses' | 'Messages';
  /** The state that it does not send back. */
  readonly drops: ReadonlyArray<ChatState>;
}

/** The clients that each script has. */
const scripts: Readonly<Record<string, ReadonlyArray<PythonClient>>> = {
  // It sends back what DeepSeek and Gemini need to models whose names are like theirs.
  agents_sdk: [
    { protocol: 'chat', drops: [openRouter] },
    { protocol: 'Responses', drops: [] },
  ],
  langchain: [
    { protocol: 'chat', drops: [deepSeek, deepSeek4, gemini, openRouter] },
    { protocol: 'Responses', drops: [] },
    // It replaces the ids of calls that Anthropic would refuse, and so those with a `~`.
    { protocol: 'Messages', drops: [gemini] },
  ],
};

for (const [name, clients] of Object.entries(scripts))
  describeWithPythonClients(`loops of agents in Python, by ${name} ${long}`, () => {
    let scenario: LoopScenario;
    let outcomes: ReadonlyArray<unknown>;
    const models = [...chatStates.map(({ model }) => model), claude];
    const conversations = clients.flatMap(({ protocol }) =>
      models.flatMap((model) => [false, true].map((streamed) => ({ protocol, model, streamed }))),
    );

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
      const dropped = clients.find((client) => client.protocol === protocol)?.drops ?? [];
      const title = `by ${protocol} at ${model}, ${streamed ? 'streamed' : 'whole'}`;
      if (dropped.some((state) => state.model === model))
        it(`are refused ${title}, because the SDK does not send back what that needs`, () => {
          assert.match(String(outcomes[index]), /400/);
        });
      else
        it(`call tools ${title}`, () => {
          assert.deepEqual(outcomes[index], expectedAnswers);
        });
    }
  });
