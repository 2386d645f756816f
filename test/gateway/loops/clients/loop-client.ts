import type { ChatState } from '#test/gateway/support/chat-state.ts';

/** An SDK with which a program writes agents. */
export interface LoopClient {
  readonly name: string;
  /** Begins a conversation with an agent that has the tool `opening_hours`. */
  readonly begin: (options: LoopOptions) => Ask;
  /** The state that it does not send back, so that its loops break at a provider that needs it. */
  readonly drops: ReadonlyArray<ChatState>;
  /** What it drops of streams alone; missing for nothing. */
  readonly dropsOfStreams?: ReadonlyArray<ChatState>;
  /** Whether Claude gets back what it thought. */
  readonly keepsThoughts: boolean;
}

/** How an agent reaches its model. */
export interface LoopOptions {
  /** The gateway. */
  readonly url: string;
  readonly model: string;
  readonly isStreamed: boolean;
}

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
