import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { SaidChat, StateMembers } from './strict-chat.ts';
import { type Body, halvesOf, isObject, listOf, type Refuse, refuseAsOpenAi, sendJson } from './strict-provider.ts';

/** What a provider of chats gives with calls of tools, and refuses a later request without. */
export interface ChatState {
  readonly name: string;
  /** A model of it. Some SDKs send back what the name of a model makes them expect. */
  readonly model: string;
  /** The page of its reference that says so. */
  readonly page: string;
  readonly members: StateMembers;
  /** Whether it wants the state of all turns, and not only of those since the user's last text. */
  readonly isOfAllTurns: boolean;
  /** Adds what the model thought to what it says. */
  readonly give: (thought: string, message: Body) => SaidChat;
  /** Whether a message that calls tools has the state of what it said. */
  readonly isReturned: (message: Body, said: Body) => boolean;
  /** What it says of a message without. @param place of the message in the request */
  readonly complaint: (message: Body, place: number) => string;
  readonly refuse: Refuse;
}

const deepSeekPage = 'https://api-docs.deepseek.com/guides/thinking_mode';

const reasoningContent: Pick<ChatState, 'members' | 'give' | 'isReturned' | 'refuse'> = {
  members: { message: ['reasoning_content'], call: [] },
  give: (thought, message) => ({
    message: { ...message, reasoning_content: thought },
    deltas: halvesOf(thought).map((piece) => ({ reasoning_content: piece })),
  }),
  isReturned: (message, said) => message.reasoning_content === said.reasoning_content,
  refuse: refuseAsOpenAi,
};

/** DeepSeek V3.2, which forgets what it thought at the next question. */
export const deepSeek: ChatState = {
  ...reasoningContent,
  name: 'DeepSeek V3.2',
  model: 'deepseek-v3.2',
  page: deepSeekPage,
  isOfAllTurns: false,
  complaint: (_, place) =>
    `Missing \`reasoning_content\` field in the assistant message at message index ${place}. For more information, ` +
    `please refer to ${deepSeekPage}#tool-calls`,
};

/** DeepSeek V4, which wants what it thought in all later requests. */
export const deepSeek4: ChatState = {
  ...reasoningContent,
  name: 'DeepSeek V4',
  model: 'deepseek-v4-pro',
  page: deepSeekPage,
  isOfAllTurns: true,
  complaint: () => 'The `reasoning_content` in the thinking mode must be passed back to the API.',
};

const geminiPage = 'https://ai.google.dev/gemini-api/docs/thought-signatures';

/** Longer than OpenAI's limit of an id. Gemini's are from some hundred to some thousand characters long. */
function signatureOf(thought: string): string {
  return Buffer.from(hash('sha512', thought).repeat(6)).toString('base64');
}

/** Gemini at its endpoint for OpenAI's clients. Of parallel calls the first one alone has a signature. */
export const gemini: ChatState = {
  name: 'Gemini',
  model: 'gemini-3-pro',
  page: geminiPage,
  members: { message: ['extra_content'], call: ['extra_content'] },
  isOfAllTurns: false,
  give: (thought, message) => {
    const signed = { extra_content: { google: { thought_signature: signatureOf(thought) } } };
    const [first, ...others] = listOf(message.tool_calls);
    if (first === undefined) return { message: { ...message, ...signed }, deltas: [signed] };
    return { message: { ...message, tool_calls: [{ ...first, ...signed }, ...others] } };
  },
  isReturned: (message, said) => isDeepStrictEqual(extraContentsOf(message), extraContentsOf(said)),
  complaint: (message, place) =>
    'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, ' +
    'and missing thought_signature may lead to degraded model performance. Additional data, function call ' +
    `\`default_api:${calledIn(message)}\` , position ${place + 1}. Please refer to ${geminiPage} for more details.`,
  refuse: (res, message) => sendJson(res, [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }], 400),
};

function extraContentsOf(message: Body): ReadonlyArray<unknown> {
  return listOf(message.tool_calls).map((call) => call.extra_content);
}

function calledIn(message: Body): string {
  const [call] = listOf(message.tool_calls);
  return isObject(call?.function) ? String(call.function.name) : '';
}

const openRouterPage = 'https://openrouter.ai/docs/guides/best-practices/reasoning-tokens#preserving-reasoning-blocks';

/**
 * OpenRouter in front of a model whose thoughts are encrypted. Its details come back as they were, and in their order. The
 * pieces of a stream come back as one, because OpenRouter refuses them as they are (langchain-ai/langchain#36400).
 */
export const openRouter: ChatState = {
  name: 'OpenRouter',
  model: 'openrouter',
  page: openRouterPage,
  members: { message: ['reasoning', 'reasoning_content', 'reasoning_details'], call: [] },
  isOfAllTurns: false,
  give: (thought, message) => {
    const [first] = listOf(message.tool_calls);
    const text = { type: 'reasoning.text', format: 'google-gemini-v1', index: 0 };
    const encrypted = {
      type: 'reasoning.encrypted',
      id: first?.id ?? null,
      format: 'google-gemini-v1',
      index: 1,
      data: signatureOf(thought),
    };
    return {
      message: { ...message, reasoning: thought, reasoning_details: [{ ...text, text: thought }, encrypted] },
      deltas: [
        ...halvesOf(thought).map((piece) => ({ reasoning: piece, reasoning_details: [{ ...text, text: piece }] })),
        { reasoning_details: [encrypted] },
      ],
    };
  },
  isReturned: (message, said) => isDeepStrictEqual(message.reasoning_details, said.reasoning_details),
  complaint: () =>
    'Gemini models require OpenRouter reasoning details to be preserved in each request. Please refer to our docs: ' +
    `${openRouterPage}.`,
  refuse: (res, raw) =>
    sendJson(
      res,
      {
        error: { message: 'Provider returned error', code: 400, metadata: { raw, provider_name: 'Google AI Studio' } },
      },
      400,
    ),
};

export const chatStates: ReadonlyArray<ChatState> = [deepSeek, deepSeek4, gemini, openRouter];
