import type { Cacheable, Outcome, Question } from './exchange.ts';

/** The clients of a protocol. */
export interface MatrixClient {
  readonly protocol: string;
  /** How the ids of answers begin. */
  readonly idPrefix: string;
  /** What its protocol calls errors of providers, and codes of the gateway. What is missing keeps its name. */
  readonly errorNames: Readonly<Record<string, string>>;
}

export const matrixClients: ReadonlyArray<MatrixClient> = [
  { protocol: 'openai-chat', idPrefix: 'chatcmpl-', errorNames: {} },
  { protocol: 'openai-responses', idPrefix: 'resp_', errorNames: {} },
  {
    protocol: 'anthropic-messages',
    idPrefix: 'msg_',
    errorNames: {
      busy: 'rate_limit_error',
      invalid: 'invalid_request_error',
      provider_reset: 'api_error',
      provider_malformed: 'api_error',
    },
  },
];

/** Begins a conversation of the official SDK of a protocol. */
export type Begin = (client: MatrixClient, options: ConversationOptions) => Conversation;

/** How a client asks. */
export interface ConversationOptions {
  /** The name of the conversation, by which it is recorded. */
  readonly name: string;
  /** The gateway. */
  readonly url: string;
  readonly model: string;
  readonly isStreamed: boolean;
  /** Sends its requests. */
  readonly fetch: typeof fetch;
}

/** A conversation, in which the client sends back what it got. */
export interface Conversation {
  readonly ask: (question: Question) => Promise<Outcome>;
  /**
   * Answers the calls of the latest answer.
   * @param results their results, by their ids
   * @param saidBefore what the user says before them; empty for nothing
   */
  readonly giveResults: (results: ReadonlyMap<string, string>, saidBefore: string) => Promise<Outcome>;
  /** The id of the latest answer. */
  readonly answerId: string;
}

/** How a client of any protocol asks to cache the prompt up to a part or a tool. */
export function cacheControlOf({ isCached }: Cacheable): object {
  return isCached === undefined ? {} : { cache_control: { type: 'ephemeral' } };
}

/** Enough for a budget of thinking. */
export const maxTokens = 5_000;
