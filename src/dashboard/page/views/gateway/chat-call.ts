import type { Api } from '#dashboard/page/api/api.ts';
import { ApiError } from '#dashboard/page/api/api-error.ts';
import { EventReader } from '#dashboard/page/api/event-reader.ts';

export type Reasoning = 'fast' | 'balanced' | 'smart' | 'turbo';

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** The ways to call a model. */
export const protocols = [
  { value: 'chat', text: 'Chat completions' },
  { value: 'messages', text: 'Messages' },
] as const;

export type Protocol = (typeof protocols)[number]['value'];

/** A call of a model. */
export interface ChatCall {
  readonly protocol: Protocol;
  readonly model: string;
  readonly reasoning: Reasoning;
  readonly messages: ReadonlyArray<Message>;
}

/** The part of an answer that has arrived. */
export interface ChatAnswer {
  readonly text: string;
  /** The provider's name of the model; null until the provider sends it. */
  readonly model: string | null;
  readonly firstContentMs: number | null;
  /** The time from the first content to the last. */
  readonly contentMs: number;
  /** The number of pieces of content. */
  readonly pieces: number;
  /** The tokens of the answer; null if the provider does not send them. */
  readonly tokens: number | null;
  readonly isDone: boolean;
}

export const firstAnswer: ChatAnswer = {
  text: '',
  model: null,
  firstContentMs: null,
  contentMs: 0,
  pieces: 0,
  tokens: null,
  isDone: false,
};

/** The members of an event in either protocol. */
interface Chunk {
  readonly model?: string;
  readonly message?: { readonly model?: string };
  readonly delta?: { readonly text?: string };
  readonly choices?: ReadonlyArray<{ readonly delta?: { readonly content?: string | null } }>;
  readonly usage?: { readonly completion_tokens?: number; readonly output_tokens?: number } | null;
  readonly error?: { readonly message?: string; readonly code?: string };
}

const paths: Readonly<Record<Protocol, string>> = { chat: '/v1/chat/completions', messages: '/v1/messages' };

/** Messages need a limit. */
const maxTokens = 1_024;

/** Makes the body of a call. Only the model `auto` of chat completions gets the hint. */
export function chatBody({ protocol, model, reasoning, messages }: ChatCall): object {
  if (protocol === 'messages') return { model, max_tokens: maxTokens, messages, stream: true };
  return { model, messages, stream: true, ...(model === 'auto' ? { reasoning } : {}) };
}

/** Calls a model and yields the answer after every piece. @throws ApiError for a refusal or an incomplete answer */
export async function* readChat(api: Api, call: ChatCall, signal: AbortSignal): AsyncGenerator<ChatAnswer> {
  const started = performance.now();
  const headers = { 'content-type': 'application/json' };
  const response = await api.open(paths[call.protocol], {
    method: 'POST',
    headers,
    body: JSON.stringify(chatBody(call)),
    signal,
  });
  const reader = new EventReader();
  let answer = firstAnswer;
  if (response.body === null) return;
  for await (const text of response.body.pipeThrough(new TextDecoderStream()) as unknown as AsyncIterable<string>) {
    for (const { data } of reader.read(text).events) answer = nextAnswer(answer, data, performance.now() - started);
    yield answer;
  }
  yield { ...answer, isDone: true };
}

/** Adds an event to the answer. @param ms since the call began @throws ApiError if the event reports an error */
export function nextAnswer(answer: ChatAnswer, data: string, ms: number): ChatAnswer {
  if (data === '[DONE]') return { ...answer, isDone: true };
  const { model, message, delta, choices, usage, error } = JSON.parse(data) as Chunk;
  if (error !== undefined)
    throw new ApiError({
      status: 200,
      code: error.code ?? 'stream-failed',
      detail: error.message ?? 'The answer ended too early.',
    });
  const content = choices?.[0]?.delta?.content ?? delta?.text ?? '';
  const tokens = usage?.completion_tokens ?? usage?.output_tokens ?? answer.tokens;
  const known = { ...answer, model: model ?? message?.model ?? answer.model, tokens };
  if (content === '') return known;
  const firstContentMs = answer.firstContentMs ?? ms;
  return {
    ...known,
    text: answer.text + content,
    pieces: answer.pieces + 1,
    firstContentMs,
    contentMs: ms - firstContentMs,
  };
}

/** Makes the same call as a command of a shell, with the key in a variable. */
export function curlOf(origin: string, call: ChatCall): string {
  const body = JSON.stringify(chatBody(call)).replaceAll("'", "'\\''");
  return `curl -N ${origin}${paths[call.protocol]} -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '${body}'`;
}
