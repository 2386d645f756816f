import { randomUUID } from 'node:crypto';
import { JsonText, type WritableJson, writeJson } from '#gateway/framing/json-text.ts';
import { keptBytesOf } from '#gateway/framing/stream-interpreter.ts';
import type { Answer, AnswerPart } from '#gateway/neutral/answer.ts';
import type { AnswerEvent, AnswerWriter, FinishReason } from '#gateway/neutral/answer-event.ts';
import type { Tokens } from '#gateway/neutral/consumption.ts';
import { GatheredText } from '#gateway/protocols/gathered-text.ts';
import type { WriterOptions } from '#gateway/protocols/protocol.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { JsonScanner } from '#shared/json/json-scanner.ts';
import { protocolName } from './thinking.ts';

const reasons: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  'stop-sequence': 'stop_sequence',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  filtered: 'refusal',
};

/** A call whose block waits for the end of the call before it: blocks come one after the other. */
interface WaitingCall {
  readonly id: string;
  readonly name: string;
  readonly given: GatheredText;
}

type BlockKind = 'text' | 'thinking' | 'tool_use';

/** Writes a stream of Messages (https://docs.anthropic.com/en/docs/build-with-claude/streaming). */
export class MessagesAnswerWriter implements AnswerWriter {
  readonly #options: WriterOptions;
  #blocks = 0;
  #open: BlockKind | null;
  /** The call whose block is open. */
  #openCall: number | null = null;
  readonly #waiting = new Map<number, WaitingCall>();
  keptBytes = 0;
  #tokens: Tokens | null = null;
  #finish: Extract<AnswerEvent, { kind: 'finished' }> | null = null;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#open = options.isContinuation ? 'text' : null;
  }

  write(event: AnswerEvent): string {
    switch (event.kind) {
      case 'started':
        return this.#options.isContinuation ? '' : this.#start(event.id, event.model ?? this.#options.model);
      case 'text':
      case 'refusal':
        return event.text === '' ? '' : this.#begin('text') + this.#delta({ type: 'text_delta', text: event.text });
      case 'reasoning':
        return this.#begin('thinking') + this.#delta({ type: 'thinking_delta', thinking: event.text });
      case 'signature':
        return this.#signature(event.signature);
      case 'tool-call':
        return this.#call(event);
      case 'arguments':
        return this.#arguments(event.index, event.text);
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
      this.#writeWaiting() +
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

  /** Opens a block of a kind, unless the open one has it. */
  #begin(kind: 'text' | 'thinking'): string {
    if (this.#open === kind) return '';
    const block = kind === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '', signature: '' };
    return this.#openBlock(kind, block);
  }

  #openBlock(kind: BlockKind, block: JsonObject): string {
    const closed = this.#close() + (kind === 'tool_use' ? '' : this.#writeWaiting());
    this.#open = kind;
    return closed + frame({ type: 'content_block_start', index: this.#blocks, content_block: block });
  }

  #close(): string {
    if (this.#open === null) return '';
    this.#open = null;
    this.#openCall = null;
    this.#blocks += 1;
    return frame({ type: 'content_block_stop', index: this.#blocks - 1 });
  }

  #delta(delta: JsonObject): string {
    return frame({ type: 'content_block_delta', index: this.#blocks, delta });
  }

  /** What another protocol signed is not Anthropic's: clients keep the text alone. */
  #signature({ of, value, isRedacted }: Extract<AnswerEvent, { kind: 'signature' }>['signature']): string {
    if (of !== protocolName) return '';
    if (isRedacted) {
      return this.#openBlock('thinking', { type: 'redacted_thinking', data: value }) + this.#close();
    }
    return this.#begin('thinking') + this.#delta({ type: 'signature_delta', signature: value }) + this.#close();
  }

  #call({ index, id, name }: Extract<AnswerEvent, { kind: 'tool-call' }>): string {
    if (this.#openCall !== null) {
      this.#waiting.set(index, { id, name, given: new GatheredText() });
      this.keptBytes += keptBytesOf(id) + keptBytesOf(name);
      return '';
    }
    const opened = this.#openBlock('tool_use', callBlock(id, name));
    this.#openCall = index;
    return opened;
  }

  #arguments(index: number, text: string): string {
    if (this.#openCall === index) return this.#delta({ type: 'input_json_delta', partial_json: text });
    const waiting = this.#waiting.get(index);
    if (waiting === undefined) return '';
    this.keptBytes += waiting.given.add(text);
    return '';
  }

  #writeWaiting(): string {
    let written = '';
    for (const { id, name, given } of this.#waiting.values()) {
      written +=
        this.#openBlock('tool_use', callBlock(id, name)) +
        this.#delta({ type: 'input_json_delta', partial_json: given.text }) +
        this.#close();
    }
    this.#waiting.clear();
    this.keptBytes = 0;
    return written;
  }
}

/** The block of a call whose arguments follow. */
function callBlock(id: string, name: string): JsonObject {
  return { type: 'tool_use', id, name, input: {} };
}

/** An event whose name is its type. */
function frame(event: JsonObject & { readonly type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** The members of a message that are known at its start. */
function headOf(id: string | null, model: string): JsonObject {
  return { id: id ?? `msg_${randomUUID().replaceAll('-', '')}`, type: 'message', role: 'assistant', model };
}

/** Writes a whole answer of Messages. */
export function writeMessagesAnswer(answer: Answer, { model }: WriterOptions): Buffer {
  const { id, model: said, parts, reason, stopSequence, tokens } = answer;
  const message: WritableJson = {
    ...headOf(id, said ?? model),
    content: parts.flatMap(blockOf),
    stop_reason: reasons[reason],
    stop_sequence: stopSequence,
    usage: usageOf(tokens),
  };
  return Buffer.from(writeJson(message));
}

function blockOf(part: AnswerPart): ReadonlyArray<WritableJson> {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    case 'tool-call': {
      // A model may write arguments that are not an object: a client then gets none.
      const input = isJsonObject(part.arguments) ? part.arguments : '{}';
      return [{ type: 'tool_use', id: part.id, name: part.name, input: new JsonText(input) }];
    }
    case 'reasoning': {
      const { text, signature } = part;
      if (signature?.isRedacted === true)
        return signature.of === protocolName ? [{ type: 'redacted_thinking', data: signature.value }] : [];
      return [{ type: 'thinking', thinking: text, signature: signature?.of === protocolName ? signature.value : '' }];
    }
  }
}

/** Whether a text is a JSON object. None of it becomes a value. */
function isJsonObject(text: string): boolean {
  const scanner = new JsonScanner(Buffer.from(text), { maxValues: Number.POSITIVE_INFINITY });
  while (!scanner.advance());
  return scanner.fault === null && scanner.isObject;
}

/** Anthropic counts cached tokens apart from the others. */
function usageOf(tokens: Tokens | null): JsonObject {
  const { input, output, cachedInput = 0, cacheWrite = 0 } = tokens ?? { input: 0, output: 0 };
  return {
    input_tokens: Math.max(0, input - cachedInput - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cachedInput,
    output_tokens: output,
  };
}
