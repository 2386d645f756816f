import {
  type ChatState,
  chatStates,
  deepSeek,
  deepSeek4,
  gemini,
  openRouter,
} from '#test/gateway/support/chat-state.ts';

/** An SDK with which a program writes agents. */
export interface LoopClient {
  readonly name: string;
  /** The state that it does not send back, so that its loops break at a provider that needs it. */
  readonly drops: ReadonlyArray<ChatState>;
  /** What it drops of streams alone; missing for nothing. */
  readonly dropsOfStreams?: ReadonlyArray<ChatState>;
  /** Whether Claude gets back what it thought. */
  readonly keepsThoughts: boolean;
}

/** The AI SDK, by each of its packages that call the gateway. */
export const aiSdkClients: ReadonlyArray<LoopClient> = [
  { name: '@ai-sdk/openai, chat', drops: chatStates, keepsThoughts: false },
  { name: '@ai-sdk/openai, Responses', drops: [], keepsThoughts: true },
  { name: '@ai-sdk/openai, Responses that are not stored', drops: [], keepsThoughts: true },
  { name: '@ai-sdk/anthropic', drops: [], keepsThoughts: true },
  { name: '@ai-sdk/openai-compatible', drops: [openRouter], keepsThoughts: false },
];

/** The SDKs in JavaScript. */
export const loopClients: ReadonlyArray<LoopClient> = [
  ...aiSdkClients,
  { name: '@openai/agents, Responses', drops: [], keepsThoughts: true },
  {
    name: '@openai/agents, chat',
    drops: [deepSeek, deepSeek4, openRouter],
    dropsOfStreams: [gemini],
    keepsThoughts: false,
  },
  { name: '@langchain/openai, chat', drops: chatStates, keepsThoughts: false },
  { name: '@langchain/openai, Responses', drops: [], keepsThoughts: true },
  { name: '@langchain/anthropic', drops: [], keepsThoughts: true },
];

/** How an agent reaches its model. */
export interface LoopOptions {
  /** The gateway. */
  readonly url: string;
  readonly model: string;
  readonly isStreamed: boolean;
}

/** Begins a conversation with an agent that has the tool `opening_hours`. */
export type Begin = (client: LoopClient, options: LoopOptions) => Ask;

/** Asks one question of a conversation. Resolves with what the agent says at the end. */
export type Ask = (question: string) => Promise<string>;

/** The tool of the agents. */
export const hoursTool = {
  name: 'opening_hours',
  description: 'When it is open on a day',
  parameters: {
    type: 'object' as const,
    properties: { day: { type: 'string' as const } },
    required: ['day'],
    additionalProperties: false as const,
  },
  run: (day: string) => `${day} 9-17`,
};

/** Enough for a budget of thinking, and its least. */
export const [maxTokens, thinkingTokens] = [4_096, 1_024];

/** Whether a client does not send back what a provider gives. */
export function isDropped(
  state: ChatState,
  { drops, dropsOfStreams = [] }: Pick<LoopClient, 'drops' | 'dropsOfStreams'>,
  isStreamed: boolean,
): boolean {
  return drops.includes(state) || (isStreamed && dropsOfStreams.includes(state));
}
