import { JsonText, type WritableJson, writeJson } from '#gateway/framing/json-text.ts';
import type { Answer, AnswerPart } from '#gateway/neutral/answer.ts';
import type { AnswerEvent, AnswerWriter, FinishReason } from '#gateway/neutral/answer-event.ts';
import type { Tokens } from '#gateway/neutral/consumption.ts';
import type { Signature } from '#gateway/neutral/conversation.ts';
import { answerIdOf } from '#gateway/protocols/answer-id.ts';
import { idWithState } from '#gateway/protocols/call-state.ts';
import type { WriterOptions } from '#gateway/protocols/protocol.ts';
import { signatureTextOf } from '#gateway/protocols/signature-text.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { protocolName } from './thinking.ts';

const reasons: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  'stop-sequence': 'stop_sequence',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  filtered: 'refusal',
};

type BlockKind = 'text' | 'thinking' | 'tool_use';

/** https://docs.anthropic.com/en/docs/build-with-claude/streaming */
export class MessagesAnswerWriter implements AnswerWriter {
  readonly #options: WriterOptions;
  #blocks = 0;
  #open: BlockKind | null;
  readonly keptBytes = 0;
  #tokens: Tokens | null = null;
  #finish: Extract<AnswerEvent, { kind: 'finished' }> | null = null;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#open = options.isContinuation ? 'text' : null;
  }

  write(event: AnswerEvent): string {
    switch (event.kind) {
      case 'started':
        return this.#options.isContinuation ? '' : this.#start(event.id, event.model || this.#options.model);
      case 'text':
      case 'refusal':
        return event.text === '' ? '' : this.#begin('text') + this.#delta({ type: 'text_delta', text: event.text });
      case 'reasoning':
        return this.#begin('thinking') + this.#delta({ type: 'thinking_delta', thinking: event.text });
      case 'signature':
        return this.#signature(event.signature);
      case 'tool-call':
        return this.#openBlock('tool_use', { ...callBlock(event, this.#options), input: {} });
      case 'arguments':
        return this.#delta({ type: 'input_json_delta', partial_json: event.text });
      case 'part-end':
        return this.#close();
      case 'finished':
        this.#finish = event;
        return '';
      case 'usage':
        this.#tokens = event.tokens;
        return '';
      default:
        return '';
    }
  }

  /** The last report of usage comes after the end of the text, so the end of the message waits for it. */
  end(): string {
    const stop = {
      stop_reason: reasons[this.#finish?.reason ?? 'stop'],
      stop_sequence: this.#finish?.stopSequence ?? null,
    };
    return (
      this.#close() +
      frame({ type: 'message_delta', delta: stop, usage: usageOf(this.#tokens) }) +
      frame({ type: 'message_stop' })
    );
  }

  #start(id: string | null, model: string): string {
    const message = {
      ...headOf(id, model),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: usageOf(this.#tokens),
    };
    return frame({ type: 'message_start', message }) + frame({ type: 'ping' });
  }

  #begin(kind: 'text' | 'thinking'): string {
    if (this.#open === kind) return '';
    const block = kind === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '', signature: '' };
    return this.#openBlock(kind, block);
  }

  #openBlock(kind: BlockKind, block: JsonObject): string {
    const closed = this.#close();
    this.#open = kind;
    return closed + frame({ type: 'content_block_start', index: this.#blocks, content_block: block });
  }

  #close(): string {
    if (this.#open === null) return '';
    this.#open = null;
    this.#blocks += 1;
    return frame({ type: 'content_block_stop', index: this.#blocks - 1 });
  }

  #delta(delta: JsonObject): string {
    return frame({ type: 'content_block_delta', index: this.#blocks, delta });
  }

  #signature(signature: Signature): string {
    const text = ownText(signature);
    if (signature.isRedacted) {
      return this.#openBlock('thinking', { type: 'redacted_thinking', data: text }) + this.#close();
    }
    return this.#begin('thinking') + this.#delta({ type: 'signature_delta', signature: text }) + this.#close();
  }
}

/** The text of the signature as Anthropic writes it; that of another maker names it. */
function ownText(signature: Signature): string {
  return signature.of === protocolName ? signature.value : signatureTextOf(signature);
}

/** The block of a call without its arguments. */
function callBlock({ id, name, state }: MadeCall, { tools }: WriterOptions): JsonObject {
  return { type: 'tool_use', id: idWithState(id, state), name: tools.of(name).name };
}

type MadeCall = Pick<Extract<AnswerPart, { kind: 'tool-call' }>, 'id' | 'name' | 'state'>;

function frame(event: JsonObject & { readonly type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** The members that are known at the start. */
function headOf(id: string | null, model: string): JsonObject {
  return { id: answerIdOf('msg_', id), type: 'message', role: 'assistant', model };
}

export function writeMessagesAnswer(answer: Answer, options: WriterOptions): Buffer {
  const { id, model: said, parts, reason, stopSequence, tokens } = answer;
  const message: WritableJson = {
    ...headOf(id, said || options.model),
    content: parts.flatMap((part) => blocksOf(part, options)),
    stop_reason: reasons[reason],
    stop_sequence: stopSequence,
    usage: usageOf(tokens),
  };
  return Buffer.from(writeJson(message));
}

function blocksOf(part: AnswerPart, options: WriterOptions): ReadonlyArray<WritableJson> {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    case 'tool-call':
      return [{ ...callBlock(part, options), input: new JsonText(part.arguments) }];
    case 'reasoning': {
      const { text, signature } = part;
      if (signature?.isRedacted === true) return [{ type: 'redacted_thinking', data: ownText(signature) }];
      return [{ type: 'thinking', thinking: text, signature: signature === null ? '' : ownText(signature) }];
    }
  }
}

/** The usage as Anthropic counts it: cached tokens apart from the others. */
function usageOf(tokens: Tokens | null): JsonObject {
  const { input, output, cachedInput = 0, cacheWrite = 0, cacheWriteHour } = tokens ?? { input: 0, output: 0 };
  return {
    input_tokens: Math.max(0, input - cachedInput - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    ...(cacheWriteHour === undefined ? {} : { cache_creation: cacheCreationOf(cacheWrite, cacheWriteHour) }),
    cache_read_input_tokens: cachedInput,
    output_tokens: output,
  };
}

/** The written tokens by the time that they stay in the cache. */
function cacheCreationOf(written: number, forAnHour: number): JsonObject {
  const ofHour = Math.min(forAnHour, written);
  return { ephemeral_5m_input_tokens: written - ofHour, ephemeral_1h_input_tokens: ofHour };
}
