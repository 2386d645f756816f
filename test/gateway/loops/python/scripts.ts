import { type ChatState, deepSeek, deepSeek4, gemini, openRouter } from '#test/gateway/support/chat-state.ts';

/** An SDK for Python by one protocol. */
export interface PythonClient {
  /** The name of its row in docs/clients.md. */
  readonly name: string;
  readonly protocol: 'chat' | 'Responses' | 'Messages';
  /** The state that it does not send back. */
  readonly drops: ReadonlyArray<ChatState>;
}

/** The clients that each script has. */
export const pythonScripts: Readonly<Record<string, ReadonlyArray<PythonClient>>> = {
  // It sends back what DeepSeek and Gemini need to models whose names are like theirs.
  agents_sdk: [
    { name: '`openai-agents` (Python), chat', protocol: 'chat', drops: [openRouter] },
    { name: '`openai-agents` (Python), Responses', protocol: 'Responses', drops: [] },
  ],
  langchain: [
    {
      name: '`langchain-openai` (Python), chat',
      protocol: 'chat',
      drops: [deepSeek, deepSeek4, gemini, openRouter],
    },
    { name: '`langchain-openai` (Python), Responses', protocol: 'Responses', drops: [] },
    // It replaces the ids of calls that Anthropic would refuse, and so those with a `~`.
    { name: '`langchain-anthropic` (Python)', protocol: 'Messages', drops: [gemini] },
  ],
};
