import { Agent, type AgentInputItem, OpenAIProvider, Runner, tool } from '@openai/agents';
import OpenAI from 'openai';
import { type Ask, hoursTool, type LoopOptions } from '../../../gateway/loops/loop-client.ts';
import { goodKey } from '../../../http/support/fake-service.ts';

/** The Agents SDK, by both of its protocols. */
export const agentsSdk: Readonly<Record<string, (options: LoopOptions) => Ask>> = {
  '@openai/agents, Responses': (options) => begin(options, true),
  '@openai/agents, chat': (options) => begin(options, false),
};

function begin({ url, model, isStreamed }: LoopOptions, useResponses: boolean): Ask {
  const openAIClient = new OpenAI({ baseURL: `${url}/v1`, apiKey: goodKey, maxRetries: 0 });
  const runner = new Runner({
    modelProvider: new OpenAIProvider({ openAIClient, useResponses }),
    tracingDisabled: true,
  });
  const agent = new Agent({
    name: 'Desk',
    instructions: 'Be brief.',
    model,
    modelSettings: { reasoning: { effort: 'low' } },
    tools: [
      tool({
        name: hoursTool.name,
        description: hoursTool.description,
        parameters: hoursTool.parameters,
        strict: true,
        execute: (input) => hoursTool.run((input as { day: string }).day),
      }),
    ],
  });
  let history: AgentInputItem[] = [];
  return async (question) => {
    const input: AgentInputItem[] = [...history, { role: 'user', content: question }];
    const result = isStreamed ? await runner.run(agent, input, { stream: true }) : await runner.run(agent, input);
    if ('completed' in result) await result.completed;
    history = result.history;
    return String(result.finalOutput);
  };
}
