import type { Answer, AnswerPart } from '#gateway/neutral/answer.ts';
import type { AnswerEvent, AnswerWriter, FinishReason } from '#gateway/neutral/answer-event.ts';
import type { ClientTools } from '#gateway/neutral/client-tools.ts';
import type { Tokens } from '#gateway/neutral/consumption.ts';
import type { Signature } from '#gateway/neutral/conversation.ts';
import { GatheredText } from '#gateway/neutral/gathered-text.ts';
import { answerIdOf } from '#gateway/protocols/answer-id.ts';
import { freeTextIn } from '#gateway/protocols/free-text.ts';
import type { WriterOptions } from '#gateway/protocols/protocol.ts';
import type { JsonObject } from '#shared/json/json.ts';

const reasons: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  filtered: 'content_filter',
};

interface ChatWriterOptions extends WriterOptions {
  /** True to send a chunk with the usage. */
  readonly asksForUsage: boolean;
}

/**
 * https://platform.openai.com/docs/api-reference/chat-streaming. Reasoning comes as `reasoning_content`, and its opaque
 * part as an object of `reasoning_details`, which the client sends back.
 */
export class ChatAnswerWriter implements AnswerWriter {
  readonly #options: ChatWriterOptions;
  #common: JsonObject = {};
  #tokens: Tokens | null = null;
  keptBytes = 0;
  /** The text of the reasoning that has no signature yet. */
  #reasoning = new GatheredText();
  #details = 0;
  /** The number of calls that have begun. */
  #calls = 0;
  /** The arguments of the open call that become a free text; null for another call. */
  #freeText: GatheredText | null = null;

  constructor(options: ChatWriterOptions) {
    this.#options = options;
    this.#common = commonOf(null, options.model);
  }

  write(event: AnswerEvent): string {
    switch (event.kind) {
      case 'started':
        this.#common = commonOf(event.id, event.model || this.#options.model);
        return this.#options.isContinuation ? '' : this.#delta({ role: 'assistant', content: '' });
      case 'text':
        return this.#delta({ content: event.text });
      case 'refusal':
        return this.#delta({ refusal: event.text });
      case 'reasoning':
        this.keptBytes += this.#reasoning.add(event.text);
        return event.text === '' ? '' : this.#delta({ reasoning_content: event.text });
      case 'signature':
        return this.#delta({ reasoning_details: [this.#detailOf(event.signature)] });
      case 'tool-call':
        return this.#call(event);
      case 'arguments':
        return this.#arguments(event.text);
      case 'part-end':
        return this.#writeFreeText();
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

  #call(event: Extract<AnswerEvent, { kind: 'tool-call' }>): string {
    this.#dropFreeText();
    const index = this.#calls;
    this.#calls += 1;
    if (this.#options.tools.isFreeText(event.name)) this.#freeText = new GatheredText();
    return this.#delta({ tool_calls: [{ index, ...callOf({ ...event, arguments: '' }, this.#options.tools) }] });
  }

  /** Writes arguments. A free text is known when they are whole. */
  #arguments(text: string): string {
    if (this.#freeText === null)
      return this.#delta({ tool_calls: [{ index: this.#calls - 1, function: { arguments: text } }] });
    this.keptBytes += this.#freeText.add(text);
    return '';
  }

  #writeFreeText(): string {
    const given = this.#freeText;
    if (given === null) return '';
    this.#dropFreeText();
    return this.#delta({ tool_calls: [{ index: this.#calls - 1, custom: { input: freeTextIn(given.text) } }] });
  }

  /** Drops a free text: the arguments of a call that was cut off become none. */
  #dropFreeText(): void {
    this.keptBytes -= this.#freeText?.bytes ?? 0;
    this.#freeText = null;
  }

  #detailOf(signature: Signature): JsonObject {
    const detail = { index: this.#details, ...detailOf(this.#reasoning.text, signature) };
    this.#details += 1;
    this.keptBytes -= this.#reasoning.bytes;
    this.#reasoning = new GatheredText();
    return detail;
  }

  #delta(delta: JsonObject): string {
    return this.#chunk([{ index: 0, delta, logprobs: null, finish_reason: null }]);
  }

  #chunk(choices: ReadonlyArray<JsonObject>, more: JsonObject = {}): string {
    return `data: ${JSON.stringify({ ...this.#common, object: 'chat.completion.chunk', choices, ...more })}\n\n`;
  }
}

export function writeChatAnswer(
  { id, model: said, parts, reason, tokens }: Answer,
  { model, tools }: WriterOptions,
): Buffer {
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
          tool_calls: calls.map((call) => callOf(call, tools)),
        }),
  };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: reasons[reason] }];
  const usage = tokens === null ? {} : { usage: usageOf(tokens) };
  return Buffer.from(JSON.stringify({ ...commonOf(id, said || model), object: 'chat.completion', choices, ...usage }));
}

function callOf(
  { id, name: called, arguments: given }: Omit<Extract<AnswerPart, { kind: 'tool-call' }>, 'kind'>,
  tools: ClientTools,
): JsonObject {
  const { form, name } = tools.of(called);
  return form === 'custom'
    ? { id, type: 'custom', custom: { name, input: freeTextIn(given) } }
    : { id, type: 'function', function: { name, arguments: given } };
}

function textsOf(parts: ReadonlyArray<AnswerPart>, kind: 'text' | 'refusal'): ReadonlyArray<string> {
  return parts.flatMap((part) => (part.kind === kind ? [part.text] : []));
}

/** Members of each chunk and of a whole answer. */
function commonOf(id: string | null, model: string): JsonObject {
  return { id: answerIdOf('chatcmpl-', id), created: Math.floor(Date.now() / 1_000), model };
}

function detailOf(text: string, { of, value, isRedacted }: Signature): JsonObject {
  return isRedacted
    ? { type: 'reasoning.encrypted', provider: of, data: value }
    : { type: 'reasoning.text', provider: of, text, signature: value };
}

function usageOf({ input, output, cachedInput, cacheWrite, reasoning }: Tokens): JsonObject {
  const cached = {
    ...(cachedInput === undefined ? {} : { cached_tokens: cachedInput }),
    ...(cacheWrite === undefined ? {} : { cache_write_tokens: cacheWrite }),
  };
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    ...(Object.keys(cached).length === 0 ? {} : { prompt_tokens_details: cached }),
    ...(reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}
