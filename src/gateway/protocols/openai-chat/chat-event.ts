import { parseForeign, tooLargeJson } from '#gateway/framing/foreign-json.ts';
import type { Tokens } from '#gateway/neutral/consumption.ts';
import { errorOfChoices, type ProviderError, providerErrorIn, usageIn } from '#gateway/neutral/provider-report.ts';
import { saysReason } from '#gateway/protocols/finish-reasons.ts';
import { KeptText } from '#gateway/protocols/kept-text.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';

export type ChatEvent =
  | { readonly kind: 'done' }
  /** A comment, or an event without data. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'error'; readonly error: ProviderError }
  | ChatChunk;

export interface ChatChunk {
  readonly kind: 'chunk';
  /** Whether it has more than a role: text, a tool call, a finish reason. */
  readonly hasContent: boolean;
  /** The text that is added to the only choice; null if the chunk adds anything else. */
  readonly text: string | null;
  readonly choices: ReadonlyArray<number>;
  readonly finished: ReadonlyArray<number>;
  readonly tokens: Tokens | null;
  /** Whether it holds only the usage that `stream_options.include_usage` requests. */
  readonly isUsageOnly: boolean;
}

const empty: ChatEvent = { kind: 'empty' };
const done: ChatEvent = { kind: 'done' };
const malformed: ChatEvent = { kind: 'malformed' };
const tooLarge: ChatEvent = { kind: 'too-large' };

/** Maximum number of choices, because each is remembered. OpenAI makes 128. */
const maxChoices = 1_000;

/** Reads an event. Never throws: anything that is not a chunk is `malformed`. */
export function readChatEvent(data: string | null): ChatEvent {
  if (data === null || data === '') return empty;
  if (data === '[DONE]' || data.trim() === '[DONE]') return done;
  const value = parseForeign(data);
  if (value === tooLargeJson) return tooLarge;
  if (!isObject(value)) return malformed;
  const error = providerErrorIn(value) ?? errorOfChoices(value);
  if (error !== null) return { kind: 'error', error };
  const { choices } = value;
  if (choices !== undefined && choices !== null && !Array.isArray(choices)) return malformed;
  return chunkOf(value, (choices ?? []) as ReadonlyArray<Json>);
}

function chunkOf(value: JsonObject, choices: ReadonlyArray<Json>): ChatEvent {
  const indexes: number[] = [];
  const finished: number[] = [];
  let hasContent = false;
  let text: string | null = '';
  for (const choice of choices) {
    if (!isObject(choice)) return malformed;
    const index = typeof choice.index === 'number' ? choice.index : 0;
    indexes.push(index);
    const delta = isObject(choice.delta) ? choice.delta : {};
    const ends = saysReason(choice.finish_reason);
    if (ends) finished.push(index);
    const others = othersThanRole(delta);
    hasContent ||= ends || others.length > 0;
    const isText = others.every(([name, said]) => name === 'content' && typeof said === 'string');
    const isCall = choice.finish_reason === 'tool_calls';
    const plain = isText && !isCall && index === 0 && !saysSomething(choice.logprobs);
    if (text !== null) text = plain ? text + (typeof delta.content === 'string' ? delta.content : '') : null;
  }
  const tokens = usageIn(value);
  return {
    kind: 'chunk',
    hasContent,
    text,
    choices: indexes,
    finished,
    tokens,
    isUsageOnly: choices.length === 0 && isObject(value.usage),
  };
}

/** What a message or a delta has in addition to its role. */
export function othersThanRole(message: JsonObject): ReadonlyArray<readonly [name: string, value: Json | undefined]> {
  return Object.entries(message).filter(([name, said]) => name !== 'role' && saysSomething(said));
}

function saysSomething(value: Json | undefined): boolean {
  return value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
}

/** The choices that have begun and ended, and whether another target may continue it. */
export class ChatProgress {
  readonly #expected: number;
  readonly #finished = new Set<number>();
  readonly #seen = new Set<number>();
  readonly #text: KeptText;
  tokens: Tokens | null = null;
  hasContent = false;

  /**
   * @param expected requested choices @param keepsText whether the text is kept, so that another provider can continue
   *   it
   */
  constructor(expected: number, keepsText: boolean) {
    this.#expected = expected;
    this.#text = new KeptText(keepsText);
  }

  add(chunk: ChatChunk): void {
    // No target continues a finished answer, so later text is not kept.
    if (!this.finished) this.#takeText(chunk.text);
    for (const index of chunk.choices) this.#seen.add(index);
    for (const index of chunk.finished) this.#finished.add(index);
    this.hasContent ||= chunk.hasContent;
    if (chunk.tokens !== null) this.tokens = chunk.tokens;
  }

  hasSeen(choices: ReadonlyArray<number>): boolean {
    return this.#seen.size > 0 && choices.every((index) => this.#seen.has(index));
  }

  #takeText(text: string | null): void {
    if (text === null) this.#text.drop();
    else this.#text.add(text);
  }

  get isOverflown(): boolean {
    return this.#seen.size > maxChoices;
  }

  get keptBytes(): number {
    return this.#text.bytes;
  }

  /** True if every requested or received choice has its finish reason. */
  get finished(): boolean {
    return this.#finished.size >= this.#expected && this.seenFinished;
  }

  /** True if every received choice has its finish reason: some providers send fewer choices than requested. */
  get seenFinished(): boolean {
    return this.#finished.size > 0 && [...this.#seen].every((index) => this.#finished.has(index));
  }

  /** The text; null if it was not kept or is incomplete. */
  get text(): string | null {
    return this.#text.value;
  }
}
