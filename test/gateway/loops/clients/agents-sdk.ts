import { Agent, type AgentInputItem, OpenAIProvider, Runner, tool } from '@openai/agents';
import OpenAI from 'openai';
import { deepSeek, deepSeek4, gemini, openRouter } from '#test/gateway/support/chat-state.ts';
import { goodKey } from '#test/http/support/fake-service.ts';
import { type Ask, hoursTool, type LoopClient, type LoopOptions } from './loop-client.ts';

/** The Agents SDK, by both of its protocols. */
export const agentsSdkClients: ReadonlyArray<LoopClient> = [
  {
    name: '@openai/agents, Responses',
    begin: (options) => begin(options, true),
    drops: [],
    keepsThoughts: true,
  },
  {
    name: '@openai/agents, chat',
    begin: (options) => begin(options, false),
    drops: [deepSeek, deepSeek4, openRouter],
    dropsOfStreams: [gemini],
    keepsThoughts: false,
  },
];

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
