import { parseForeign, tooLargeJson } from '#gateway/framing/foreign-json.ts';
import { parseAnswerKeepingText } from '#gateway/framing/json-text.ts';
import type { Answer, AnswerPart } from '#gateway/neutral/answer.ts';
import { type AnswerEvent, type AnswerReader, maxToolCalls } from '#gateway/neutral/answer-event.ts';
import type { Signature } from '#gateway/neutral/conversation.ts';
import { GatheredText } from '#gateway/neutral/gathered-text.ts';
import { isCount, providerErrorIn, usageIn } from '#gateway/neutral/provider-report.ts';
import { argumentsTextOf } from '#gateway/protocols/arguments-text.ts';
import { CallIds, nameOr } from '#gateway/protocols/call-ids.ts';
import { finishReasonOf } from '#gateway/protocols/finish-reasons.ts';
import { listOr, numberOrNull, textOr } from '#gateway/protocols/parsing.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { protocolName } from './thinking.ts';

const tooLarge: ReadonlyArray<AnswerEvent> = [{ kind: 'too-large' }];
const malformed: ReadonlyArray<AnswerEvent> = [{ kind: 'malformed' }];
const unreadable: ReadonlyArray<AnswerEvent> = [{ kind: 'unreadable' }];
const partStart: ReadonlyArray<AnswerEvent> = [{ kind: 'part-start' }];

/** The counts that are read. A report may have any other members. */
const reportedCounts = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
] as const;

interface Call {
  readonly index: number;
  /** The arguments in the beginning of the block, which count if no others come; empty without any. */
  input: string;
  hasArguments: boolean;
}

/** The bytes of a block in addition to its texts. */
const bytesPerBlock = 64;

/**
 * Reads a stream of Messages (https://docs.anthropic.com/en/docs/build-with-claude/streaming). New types of events may
 * be added any time, so an unknown one says nothing.
 */
export class MessagesAnswerReader implements AnswerReader {
  /**
   * The calls by the index of their blocks; null for a block of another kind. Pieces of a call may come after its end.
   */
  readonly #blocks = new Map<number, Call | null>();
  /** The arguments that came before the beginnings of their blocks. */
  readonly #early = new Map<number, GatheredText>();
  readonly #ids = new CallIds();
  #calls = 0;
  #latest = -1;
  #textBytes = 0;
  /** The index of the latest call, if its block has ended without any arguments: they may have been cut off. */
  #emptyCall: number | null = null;
  /** The counts of the first event; the last one does not repeat them all. */
  readonly #usage: Record<string, Json> = {};

  get keptBytes(): number {
    return this.#ids.keptBytes + this.#textBytes + (this.#blocks.size + this.#early.size) * bytesPerBlock;
  }

  read(data: string | null): ReadonlyArray<AnswerEvent> {
    if (data === null || data === '') return [];
    // Proxies that make Messages of a chat may end with its mark.
    if (data === '[DONE]') return [{ kind: 'end' }];
    const event = parseForeign(data);
    if (event === tooLargeJson) return tooLarge;
    if (!isObject(event)) return malformed;
    switch (event.type) {
      case 'message_start':
        return this.#start(event);
      case 'content_block_start':
        return this.#blockStart(event, data);
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
    if (!isObject(message)) return malformed;
    const started: AnswerEvent = { kind: 'started', id: nameOr(message.id), model: nameOr(message.model) };
    return [started, ...this.#report(message.usage)];
  }

  #blockStart({ index, content_block: block }: JsonObject, data: string): ReadonlyArray<AnswerEvent> {
    if (!isObject(block)) return malformed;
    this.#latest = numberOrNull(index) ?? this.#latest + 1;
    const before = [...this.#endEmptyCall(), ...this.#endCall(this.#latest)];
    const early = this.#earlyArguments(this.#latest);
    this.#blocks.set(this.#latest, null);
    const begun = block.type === 'tool_use' ? this.#callStart(block, early, data) : beginningOf(block);
    return [...before, ...(begun.length === 0 ? partStart : begun)];
  }

  #callStart(block: JsonObject, early: string, data: string): ReadonlyArray<AnswerEvent> {
    const name = nameOr(block.name);
    if (name === null) return unreadable;
    if (this.#calls === maxToolCalls) return tooLarge;
    const call = { index: this.#calls, input: inputOf(block.input, data), hasArguments: false };
    this.#calls += 1;
    this.#textBytes += call.input.length;
    this.#blocks.set(this.#latest, call);
    const begun: AnswerEvent = {
      kind: 'tool-call',
      index: call.index,
      id: this.#ids.give(nameOr(block.id)),
      name,
      state: null,
    };
    return [begun, ...argumentsOf(call, early)];
  }

  #delta({ index, delta }: JsonObject): ReadonlyArray<AnswerEvent> {
    if (!isObject(delta)) return malformed;
    switch (delta.type) {
      case 'text_delta':
        return typeof delta.text === 'string' ? [{ kind: 'text', text: delta.text }] : unreadable;
      case 'thinking_delta':
        return [{ kind: 'reasoning', text: textOr(delta.thinking) ?? '' }];
      case 'signature_delta':
        return signatureOf(delta.signature, false);
      case 'input_json_delta':
        return this.#arguments(this.#placeOf(index), argumentsTextOf(delta.partial_json));
      default:
        return [];
    }
  }

  /**
   * Passes a piece of arguments. Pieces for a block of another kind, such as a tool that the provider runs, say nothing
   * to the client.
   */
  #arguments(place: number, text: string): ReadonlyArray<AnswerEvent> {
    const call = this.#blocks.get(place);
    if (call === undefined && text !== '') this.#keepEarly(place, text);
    return call ? argumentsOf(call, text) : [];
  }

  #keepEarly(place: number, text: string): void {
    const early = this.#early.get(place) ?? new GatheredText();
    this.#early.set(place, early);
    this.#textBytes += early.add(text);
  }

  #earlyArguments(place: number): string {
    const early = this.#early.get(place);
    this.#early.delete(place);
    this.#textBytes -= early?.bytes ?? 0;
    return early?.text ?? '';
  }

  /** The place of the block to which a piece belongs. */
  #placeOf(index: Json | undefined): number {
    return numberOrNull(index) ?? Math.max(this.#latest, 0);
  }

  #blockStop({ index }: JsonObject): ReadonlyArray<AnswerEvent> {
    const place = this.#placeOf(index);
    const late = this.#endCall(place);
    const call = this.#blocks.get(place) ?? null;
    if (call !== null && !call.hasArguments) {
      this.#emptyCall = call.index;
      return late;
    }
    return [...late, { kind: 'part-end', index: call?.index ?? null }];
  }

  #endCall(place: number): ReadonlyArray<AnswerEvent> {
    const call = this.#blocks.get(place) ?? null;
    if (call === null || call.input === '') return [];
    const { input, hasArguments } = call;
    this.#textBytes -= input.length;
    call.input = '';
    return hasArguments ? [] : argumentsOf(call, input);
  }

  #endEmptyCall(): ReadonlyArray<AnswerEvent> {
    const index = this.#emptyCall;
    this.#emptyCall = null;
    return index === null ? [] : [{ kind: 'part-end', index }];
  }

  #end({ delta, usage }: JsonObject): ReadonlyArray<AnswerEvent> {
    const reported = this.#report(usage);
    if (!isObject(delta) || typeof delta.stop_reason !== 'string') return reported;
    const said = finishReasonOf(delta.stop_reason, this.#calls > 0);
    const [reason, failure] = said === 'failed' ? (['stop', unreadable] as const) : ([said, []] as const);
    const late = [...this.#blocks.keys()].flatMap((place) => this.#endCall(place));
    if (this.#early.size > 0 && reason !== 'length') late.push(...unreadable);
    if (reason !== 'length') late.push(...this.#endEmptyCall());
    return [...failure, ...late, ...reported, { kind: 'finished', reason, stopSequence: textOr(delta.stop_sequence) }];
  }

  #report(usage: Json | undefined): ReadonlyArray<AnswerEvent> {
    if (!isObject(usage)) return [];
    // Some report 0 in the last event for what they have counted in the first.
    for (const name of reportedCounts)
      if (isCount(usage[name])) this.#usage[name] = usage[name] || (this.#usage[name] ?? 0);
    this.#keepCacheCreation(usage.cache_creation);
    const tokens = usageIn({ usage: this.#usage });
    return tokens === null ? [] : [{ kind: 'usage', tokens }];
  }

  /** Keeps how long what was written stays in the cache: only the first event has to say it. */
  #keepCacheCreation(said: Json | undefined): void {
    const count = isObject(said) ? said.ephemeral_1h_input_tokens : undefined;
    if (isCount(count) && (count > 0 || this.#usage.cache_creation === undefined))
      this.#usage.cache_creation = { ephemeral_1h_input_tokens: count };
  }
}

function argumentsOf(call: Call, text: string): ReadonlyArray<AnswerEvent> {
  if (text === '') return [];
  call.hasArguments = true;
  return [{ kind: 'arguments', index: call.index, text }];
}

/** What a block says in its beginning: usually nothing, but all of hidden reasoning. */
function beginningOf({ type, text, thinking, signature, data }: JsonObject): ReadonlyArray<AnswerEvent> {
  if (type === 'redacted_thinking') return signatureOf(data, true);
  if (type === 'text' && typeof text === 'string' && text !== '') return [{ kind: 'text', text }];
  if (type !== 'thinking' || typeof thinking !== 'string' || thinking === '') return [];
  return [{ kind: 'reasoning', text: thinking }, ...signatureOf(signature, false)];
}

/** The arguments in the beginning of a block, byte for byte. */
function inputOf(input: Json | undefined, data: string): string {
  if (input === undefined || input === null || (isObject(input) && Object.keys(input).length === 0)) return '';
  const kept = parseAnswerKeepingText(Buffer.from(data), [['content_block', 'input']])?.content_block;
  return argumentsTextOf(isObject(kept) ? kept.input : input);
}

function signatureOf(value: Json | undefined, isRedacted: boolean): ReadonlyArray<AnswerEvent> {
  const signature = signatureIn(value, isRedacted);
  return signature === null ? [] : [{ kind: 'signature', signature }];
}

/** The signature. Providers that only speak as Anthropic does send thinking with an empty signature, or without one. */
function signatureIn(value: Json | undefined, isRedacted: boolean): Signature | null {
  return typeof value === 'string' && value !== '' ? { of: protocolName, value, isRedacted } : null;
}

function errorIn(event: JsonObject): ReadonlyArray<AnswerEvent> {
  const error = providerErrorIn(event);
  return error === null ? [] : [{ kind: 'error', error }];
}

/** Reads the answer; null if it cannot be read. */
export function readMessagesAnswer(body: Buffer, parsed: JsonObject): Answer | null {
  const hasCalls = listOr(parsed.content).some(isCall);
  // Arguments of tools are moved as JSON text.
  const value = hasCalls ? parseAnswerKeepingText(body, [['content', '*', 'input']]) : parsed;
  if (value === null || !(Array.isArray(value.content) || typeof value.content === 'string')) return null;
  const reason = finishReasonOf(value.stop_reason, hasCalls);
  const parts = partsOf(value.content);
  if (reason === 'failed' || parts === null) return null;
  return {
    id: nameOr(value.id),
    model: nameOr(value.model),
    // Its arguments may look whole, though they were cut off.
    parts: reason === 'length' && isCall(listOr(value.content).at(-1)) ? parts.slice(0, -1) : parts,
    reason,
    stopSequence: textOr(value.stop_sequence),
    tokens: usageIn(value),
  };
}

function isCall(block: Json | undefined): boolean {
  return isObject(block) && block.type === 'tool_use';
}

/** The parts; null if one of them cannot be read. */
function partsOf(content: string | ReadonlyArray<Json>): ReadonlyArray<AnswerPart> | null {
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  const ids = new CallIds();
  const parts = content.map((block) => (isObject(block) ? partOf(block, ids) : null));
  return parts.includes(null) ? null : parts.flatMap((part) => part ?? []);
}

/**
 * The part of a block. Blocks of other types are what the provider's own tools did. Null for a block that cannot be
 * read.
 */
function partOf(block: JsonObject, ids: CallIds): ReadonlyArray<AnswerPart> | null {
  switch (block.type) {
    case 'text':
      return typeof block.text === 'string' ? [{ kind: 'text', text: block.text }] : null;
    case 'thinking':
      return thoughtOf(textOr(block.thinking) ?? '', signatureIn(block.signature, false));
    case 'redacted_thinking':
      return thoughtOf('', signatureIn(block.data, true));
    case 'tool_use': {
      const [name, text] = [nameOr(block.name), argumentsTextOf(block.input) || '{}'];
      return name === null
        ? null
        : [{ kind: 'tool-call', id: ids.give(nameOr(block.id)), name, arguments: text, state: null }];
    }
    default:
      return [];
  }
}

function thoughtOf(text: string, signature: Signature | null): ReadonlyArray<AnswerPart> {
  return text === '' && signature === null ? [] : [{ kind: 'reasoning', text, signature }];
}
