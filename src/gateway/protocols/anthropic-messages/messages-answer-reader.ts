import { parseForeign, tooLargeJson } from '#gateway/framing/foreign-json.ts';
import { keptText, parseAnswerKeepingText } from '#gateway/framing/json-text.ts';
import type { Answer, AnswerPart } from '#gateway/neutral/answer.ts';
import { type AnswerEvent, type AnswerReader, type FinishReason, maxToolCalls } from '#gateway/neutral/answer-event.ts';
import { providerErrorIn, tokensIn } from '#gateway/neutral/provider-report.ts';
import { listOr, numberOr, textOr } from '#gateway/protocols/parsing.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { protocolName } from './thinking.ts';

const reasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  pause_turn: 'stop',
  stop_sequence: 'stop-sequence',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool-calls',
  refusal: 'filtered',
};

function reasonOf(said: Json | undefined): FinishReason {
  return (typeof said === 'string' ? reasons[said] : undefined) ?? 'stop';
}

const tooLarge: ReadonlyArray<AnswerEvent> = [{ kind: 'too-large' }];

/** The counts that are kept of a report, which may have any other members. */
const reportedCounts = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
] as const;

/** A block of the stream that is a call of a tool. */
interface OpenCall {
  readonly index: number;
  hasArguments: boolean;
}

/**
 * Reads a stream of Messages (https://docs.anthropic.com/en/docs/build-with-claude/streaming). New types of events may
 * be added any time, so an unknown one says nothing.
 */
export class MessagesAnswerReader implements AnswerReader {
  /** By the index of their blocks. */
  readonly #calls = new Map<number, OpenCall>();
  /** The counts of the first event; the last one does not repeat them all. */
  readonly #usage: Record<string, Json> = {};

  read(data: string | null): ReadonlyArray<AnswerEvent> {
    if (data === null || data === '') return [];
    const event = parseForeign(data);
    if (event === tooLargeJson) return tooLarge;
    if (!isObject(event)) return [{ kind: 'malformed' }];
    switch (event.type) {
      case 'message_start':
        return this.#start(event);
      case 'content_block_start':
        return this.#blockStart(event);
      case 'content_block_delta':
        return this.#delta(event);
      case 'content_block_stop':
        return this.#blockStop(event);
      case 'message_delta':
        return this.#end(event);
      case 'message_stop':
        return [{ kind: 'end' }];
      default:
        return errorIn(event);
    }
  }

  #start({ message }: JsonObject): ReadonlyArray<AnswerEvent> {
    if (!isObject(message)) return [{ kind: 'malformed' }];
    const started: AnswerEvent = { kind: 'started', id: textOr(message.id), model: textOr(message.model) };
    return [started, ...this.#report(message.usage)];
  }

  #blockStart({ index, content_block: block }: JsonObject): ReadonlyArray<AnswerEvent> {
    if (!isObject(block)) return [{ kind: 'malformed' }];
    if (block.type === 'tool_use') {
      if (this.#calls.size === maxToolCalls) return tooLarge;
      const call = { index: this.#calls.size, hasArguments: false };
      this.#calls.set(numberOr(index) ?? 0, call);
      return [{ kind: 'tool-call', index: call.index, id: textOr(block.id) ?? '', name: textOr(block.name) ?? '' }];
    }
    if (block.type === 'redacted_thinking') return [signatureEvent(textOr(block.data) ?? '', true)];
    const text = textOr(block.text);
    return block.type === 'text' && text ? [{ kind: 'text', text }] : [];
  }

  #delta({ index, delta }: JsonObject): ReadonlyArray<AnswerEvent> {
    if (!isObject(delta)) return [{ kind: 'malformed' }];
    switch (delta.type) {
      case 'text_delta':
        return [{ kind: 'text', text: textOr(delta.text) ?? '' }];
      case 'thinking_delta':
        return [{ kind: 'reasoning', text: textOr(delta.thinking) ?? '' }];
      case 'signature_delta':
        return [signatureEvent(textOr(delta.signature) ?? '', false)];
      case 'input_json_delta': {
        const call = this.#calls.get(numberOr(index) ?? 0);
        const text = textOr(delta.partial_json) ?? '';
        if (call === undefined || text === '') return [];
        call.hasArguments = true;
        return [{ kind: 'arguments', index: call.index, text }];
      }
      default:
        return [];
    }
  }

  /** A call without arguments has an empty object. */
  #blockStop({ index }: JsonObject): ReadonlyArray<AnswerEvent> {
    const call = this.#calls.get(numberOr(index) ?? 0);
    if (call === undefined || call.hasArguments) return [];
    call.hasArguments = true;
    return [{ kind: 'arguments', index: call.index, text: '{}' }];
  }

  #end({ delta, usage }: JsonObject): ReadonlyArray<AnswerEvent> {
    const reported = this.#report(usage);
    if (!isObject(delta) || typeof delta.stop_reason !== 'string') return reported;
    const stopSequence = textOr(delta.stop_sequence);
    return [...reported, { kind: 'finished', reason: reasonOf(delta.stop_reason), stopSequence }];
  }

  #report(usage: Json | undefined): ReadonlyArray<AnswerEvent> {
    if (!isObject(usage)) return [];
    for (const name of reportedCounts) if (usage[name] !== undefined) this.#usage[name] = usage[name];
    const tokens = tokensIn(this.#usage);
    return tokens === null ? [] : [{ kind: 'usage', tokens }];
  }
}

function signatureEvent(value: string, isRedacted: boolean): AnswerEvent {
  return { kind: 'signature', signature: { of: protocolName, value, isRedacted } };
}

function errorIn(event: JsonObject): ReadonlyArray<AnswerEvent> {
  const error = providerErrorIn(event);
  return error === null ? [] : [{ kind: 'error', error }];
}

/** Reads a whole answer of Messages; null if it cannot be read. */
export function readMessagesAnswer(body: Buffer, parsed: JsonObject): Answer | null {
  const hasCalls = listOr(parsed.content).some((block) => isObject(block) && block.type === 'tool_use');
  // Arguments of tools are moved as JSON text.
  const value = hasCalls ? parseAnswerKeepingText(body, [['content', '*', 'input']]) : parsed;
  if (value === null || !Array.isArray(value.content)) return null;
  return {
    id: textOr(value.id),
    model: textOr(value.model),
    parts: value.content.flatMap(partOf),
    reason: reasonOf(value.stop_reason),
    stopSequence: textOr(value.stop_sequence),
    tokens: tokensIn(value.usage),
  };
}

function partOf(block: Json): ReadonlyArray<AnswerPart> {
  if (!isObject(block)) return [];
  switch (block.type) {
    case 'text':
      return [{ kind: 'text', text: textOr(block.text) ?? '' }];
    case 'thinking': {
      const signature = { of: protocolName, value: textOr(block.signature) ?? '', isRedacted: false };
      return [{ kind: 'reasoning', text: textOr(block.thinking) ?? '', signature }];
    }
    case 'redacted_thinking':
      return [
        {
          kind: 'reasoning',
          text: '',
          signature: { of: protocolName, value: textOr(block.data) ?? '', isRedacted: true },
        },
      ];
    case 'tool_use':
      return [
        {
          kind: 'tool-call',
          id: textOr(block.id) ?? '',
          name: textOr(block.name) ?? '',
          arguments: keptText(block.input) ?? '{}',
        },
      ];
    default:
      return [];
  }
}
