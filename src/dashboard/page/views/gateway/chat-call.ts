import type { Api } from '#dashboard/page/api/api.ts';
import { ApiError } from '#dashboard/page/api/api-error.ts';
import { ServerSentEventReader } from '#dashboard/page/api/server-sent-event-reader.ts';

export type ReasoningChoice = 'fast' | 'balanced' | 'smart' | 'turbo';

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** Ways to call a model. */
export const protocols = [
  { value: 'chat', text: 'Chat completions' },
  { value: 'messages', text: 'Messages' },
  { value: 'responses', text: 'Responses (kept here)' },
] as const;

export type ChatProtocol = (typeof protocols)[number]['value'];

export interface ChatCall {
  readonly protocol: ChatProtocol;
  readonly model: string;
  readonly reasoning: ReasoningChoice;
  readonly messages: ReadonlyArray<ChatMessage>;
  /** The id of the answer that the last message continues; null if the messages say all. Only Responses has it. */
  readonly previousId: string | null;
}

/** What has arrived of an answer. */
export interface ChatAnswer {
  readonly text: string;
  /** The provider's name of the model; null until the provider sends it. */
  readonly model: string | null;
  readonly firstContentMs: number | null;
  /** The time from the first content to the last. */
  readonly contentMs: number;
  /** The number of pieces of content. */
  readonly pieces: number;
  /** Null if the provider does not send them. */
  readonly tokens: number | null;
  readonly isDone: boolean;
  /** The id by which the next message continues the answer; null if the answer is not stored. */
  readonly id: string | null;
}

export const firstAnswer: ChatAnswer = {
  text: '',
  model: null,
  firstContentMs: null,
  contentMs: 0,
  pieces: 0,
  tokens: null,
  isDone: false,
  id: null,
};

interface Chunk {
  readonly model?: string;
  readonly message?: string | { readonly model?: string };
  readonly delta?: string | { readonly text?: string };
  readonly type?: string;
  readonly response?: {
    readonly id: string;
    readonly store?: boolean;
    readonly model?: string;
    readonly usage?: { readonly output_tokens?: number } | null;
    readonly error?: ReportedError | null;
  };
  readonly choices?: ReadonlyArray<{ readonly delta?: { readonly content?: string | null } }>;
  readonly usage?: { readonly completion_tokens?: number; readonly output_tokens?: number } | null;
  readonly error?: ReportedError;
  readonly code?: string | null;
}

interface ReportedError {
  readonly message?: string | undefined;
  readonly code?: string | null | undefined;
}

const paths: Readonly<Record<ChatProtocol, string>> = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
};

/** Maximum number of tokens, because messages need a limit. */
const maxTokens = 1_024;

/** The body of the call. Only the model `auto` of chat completions gets the hint. */
export function chatBody({ protocol, model, reasoning, messages, previousId }: ChatCall): object {
  if (protocol === 'responses') {
    const said =
      previousId === null ? { input: messages } : { input: messages.slice(-1), previous_response_id: previousId };
    return { model, ...said, stream: true };
  }
  if (protocol === 'messages') return { model, max_tokens: maxTokens, messages, stream: true };
  return { model, messages, stream: true, ...(model === 'auto' ? { reasoning } : {}) };
}

/** Yields the answer after every piece. @throws ApiError for a refusal or an incomplete answer */
export async function* readChat(api: Api, call: ChatCall, signal: AbortSignal): AsyncGenerator<ChatAnswer> {
  const started = performance.now();
  const headers = { 'content-type': 'application/json' };
  const response = await api.open(paths[call.protocol], {
    method: 'POST',
    headers,
    body: JSON.stringify(chatBody(call)),
    signal,
  });
  const reader = new ServerSentEventReader();
  let answer = firstAnswer;
  if (response.body === null) return;
  for await (const text of response.body.pipeThrough(new TextDecoderStream()) as unknown as AsyncIterable<string>) {
    for (const { data } of reader.read(text).events) answer = nextAnswer(answer, data, performance.now() - started);
    yield answer;
  }
  yield { ...answer, isDone: true };
}

/** @param ms since the call began @throws ApiError if the event reports an error */
export function nextAnswer(answer: ChatAnswer, data: string, ms: number): ChatAnswer {
  if (data === '[DONE]') return { ...answer, isDone: true };
  const chunk = JSON.parse(data) as Chunk;
  throwIfFailed(chunk);
  const known = { ...answer, ...reportedIn(chunk, answer) };
  const content = contentIn(chunk);
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

function throwIfFailed(chunk: Chunk): void {
  const failed = errorIn(chunk);
  if (failed === undefined) return;
  throw new ApiError({
    status: 200,
    code: failed.code ?? 'stream-failed',
    detail: failed.message ?? 'The answer ended too early.',
  });
}

function errorIn({ type, error, message, code, response }: Chunk): ReportedError | undefined {
  if (type === 'response.failed') return response?.error ?? {};
  return type === 'error' && typeof message === 'string' ? { message, code } : error;
}

function contentIn({ choices, delta, type }: Chunk): string {
  if (typeof delta === 'string') return type === 'response.output_text.delta' ? delta : '';
  return choices?.[0]?.delta?.content ?? delta?.text ?? '';
}

/** What the answer reports: the model, the tokens and the storage. */
function reportedIn({ model, message, usage, response }: Chunk, answer: ChatAnswer) {
  const said = model ?? response?.model ?? (typeof message === 'object' ? message.model : undefined);
  return {
    model: said ?? answer.model,
    tokens: usage?.completion_tokens ?? usage?.output_tokens ?? response?.usage?.output_tokens ?? answer.tokens,
    id: response === undefined ? answer.id : response.store === true ? response.id : null,
  };
}

/** The call as a command of a shell, with the key in a variable. */
export function curlOf(origin: string, call: ChatCall): string {
  const body = JSON.stringify(chatBody(call)).replaceAll("'", "'\\''");
  return `curl -N ${origin}${paths[call.protocol]} -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '${body}'`;
}
