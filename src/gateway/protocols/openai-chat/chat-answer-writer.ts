import { randomUUID } from 'node:crypto';
import type { Answer, AnswerPart } from '#gateway/neutral/answer.ts';
import type { AnswerEvent, AnswerWriter, FinishReason } from '#gateway/neutral/answer-event.ts';
import type { Tokens } from '#gateway/neutral/consumption.ts';
import type { Signature } from '#gateway/neutral/conversation.ts';
import type { WriterOptions } from '#gateway/protocols/protocol.ts';
import type { JsonObject } from '#shared/json/json.ts';

const reasons: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  filtered: 'content_filter',
};

/** How a client gets a chat stream. */
interface ChatWriterOptions extends WriterOptions {
  /** Whether the client asks for a chunk with the usage. */
  readonly asksForUsage: boolean;
}

/**
 * Writes a chat stream (https://platform.openai.com/docs/api-reference/chat-streaming). Reasoning comes as
 * `reasoning_content`, and its opaque part as an object of `reasoning_details`, which the client sends back.
 */
export class ChatAnswerWriter implements AnswerWriter {
  readonly #options: ChatWriterOptions;
  #common: JsonObject = {};
  #tokens: Tokens | null = null;
  /** The text of the reasoning that has no signature yet. */
  #reasoning: string[] = [];
  #details = 0;

  constructor(options: ChatWriterOptions) {
    this.#options = options;
    this.#common = commonOf(null, options.model);
  }

  write(event: AnswerEvent): string {
    switch (event.kind) {
      case 'started':
        this.#common = commonOf(event.id, event.model ?? this.#options.model);
        return this.#options.isContinuation ? '' : this.#delta({ role: 'assistant', content: '' });
      case 'text':
        return this.#delta({ content: event.text });
      case 'refusal':
        return this.#delta({ refusal: event.text });
      case 'reasoning':
        this.#reasoning.push(event.text);
        return event.text === '' ? '' : this.#delta({ reasoning_content: event.text });
      case 'signature':
        return this.#delta({ reasoning_details: [this.#detailOf(event.signature)] });
      case 'tool-call': {
        const { index, id, name } = event;
        return this.#delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] });
      }
      case 'arguments':
        return this.#delta({ tool_calls: [{ index: event.index, function: { arguments: event.text } }] });
      case 'finished':
        return this.#chunk([{ index: 0, delta: {}, logprobs: null, finish_reason: reasons[event.reason] }]);
      case 'usage':
        this.#tokens = event.tokens;
        return '';
      default:
        return '';
    }
  }

  end(): string {
    const usage = this.#options.asksForUsage && this.#tokens !== null ? { usage: usageOf(this.#tokens) } : null;
    return `${usage === null ? '' : this.#chunk([], usage)}data: [DONE]\n\n`;
  }

  #detailOf(signature: Signature): JsonObject {
    const detail = { index: this.#details, ...detailOf(this.#reasoning.join(''), signature) };
    this.#details += 1;
    this.#reasoning = [];
    return detail;
  }

  #delta(delta: JsonObject): string {
    return this.#chunk([{ index: 0, delta, logprobs: null, finish_reason: null }]);
  }

  #chunk(choices: ReadonlyArray<JsonObject>, more: JsonObject = {}): string {
    return `data: ${JSON.stringify({ ...this.#common, object: 'chat.completion.chunk', choices, ...more })}\n\n`;
  }
}

/** Writes a whole chat answer. @param model the model's name if the provider does not say it */
export function writeChatAnswer({ id, model: said, parts, reason, tokens }: Answer, model: string): Buffer {
  const texts = textsOf(parts, 'text');
  const refusals = textsOf(parts, 'refusal');
  const reasoning = parts.flatMap((part) => (part.kind === 'reasoning' ? [part] : []));
  const details = reasoning.flatMap(({ text, signature }) => (signature === null ? [] : [detailOf(text, signature)]));
  const reasoningText = reasoning.map(({ text }) => text).join('');
  const calls = parts.flatMap((part) => (part.kind === 'tool-call' ? [part] : []));
  const message = {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.join(''),
    refusal: refusals.length === 0 ? null : refusals.join(''),
    ...(reasoningText === '' ? {} : { reasoning_content: reasoningText }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ id: callId, name, arguments: given }) => ({
            id: callId,
            type: 'function',
            function: { name, arguments: given },
          })),
        }),
  };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: reasons[reason] }];
  const usage = tokens === null ? {} : { usage: usageOf(tokens) };
  return Buffer.from(JSON.stringify({ ...commonOf(id, said ?? model), object: 'chat.completion', choices, ...usage }));
}

function textsOf(parts: ReadonlyArray<AnswerPart>, kind: 'text' | 'refusal'): ReadonlyArray<string> {
  return parts.flatMap((part) => (part.kind === kind ? [part.text] : []));
}

/** The members of each chunk and of a whole answer. A provider of another protocol has an id of another form. */
function commonOf(id: string | null, model: string): JsonObject {
  return { id: id ?? `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1_000), model };
}

function detailOf(text: string, { of, value, isRedacted }: Signature): JsonObject {
  return isRedacted
    ? { type: 'reasoning.encrypted', provider: of, data: value }
    : { type: 'reasoning.text', provider: of, text, signature: value };
}

function usageOf({ input, output, cachedInput, reasoning }: Tokens): JsonObject {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    ...(cachedInput === undefined ? {} : { prompt_tokens_details: { cached_tokens: cachedInput } }),
    ...(reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}
