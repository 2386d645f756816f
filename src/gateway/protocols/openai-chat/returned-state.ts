import { parseForeign } from '#gateway/framing/foreign-json.ts';
import type { WritableJson } from '#gateway/framing/json-text.ts';
import {
  isBlankText,
  type Part,
  type ReasoningPart,
  type ToolCallPart,
  type Turn,
} from '#gateway/neutral/conversation.ts';
import { maxTranslatedValues } from '#gateway/protocols/protocol.ts';
import type { TargetModel } from '#gateway/protocols/target-model.ts';
import { isObject, type JsonObject } from '#shared/json/json.ts';
import { JsonScanner } from '#shared/json/json-scanner.ts';
import { ExtraContent } from './extra-content.ts';
import { type MessageState, readState } from './message-state.ts';
import { ReasoningDetails } from './reasoning-details.ts';

type Members = Readonly<Record<string, WritableJson | undefined>>;

/** What Gemini takes in place of a signature (https://ai.google.dev/gemini-api/docs/thought-signatures). */
const unsigned = { google: { thought_signature: 'skip_thought_signature_validator' } };

interface Returned {
  readonly text: string;
  readonly state: MessageState;
}

/** What a chat target gets back of its earlier answers. It names what it leaves out. */
export class ReturnedState {
  readonly #target: TargetModel;
  readonly #ignored: Set<string>;
  /** The turn in which the user asked last. */
  readonly #asked: number;
  /** The states may still have this many values. A client writes them, inside of texts that no scan has counted. */
  #valuesLeft = maxTranslatedValues;

  /** @param turns with the results of tools after their calls */
  constructor(turns: ReadonlyArray<Turn>, target: TargetModel, ignored: Set<string>) {
    this.#target = target;
    this.#ignored = ignored;
    this.#asked = turns.findLastIndex(asks);
  }

  /**
   * The members for the reasoning of an assistant's turn. Where the configuration says that reasoning goes back, so does
   * that of an unknown maker, as the text that it is: some clients lose what says who made it. A message without anything
   * else to go back then has a blank text: DeepSeek refuses messages without the member in a conversation with calls
   * (https://api-docs.deepseek.com/guides/thinking_mode), and Kimi calls without it, or with an empty one
   * (https://platform.kimi.ai/docs/guide/use-kimi-k2-thinking-model).
   * @param turn its index
   */
  ofMessage(parts: ReadonlyArray<Part>, turn: number): Members {
    const { returnsReasoning } = this.#target;
    const isReturned = returnsReasoning === 'always' || (returnsReasoning !== 'never' && turn > this.#asked);
    const reasoning = parts.filter((part) => part.kind === 'reasoning');
    const returned = reasoning.flatMap((part) => {
      const own = isReturned ? this.#returned(part) : null;
      if (own === null) this.#ignored.add(part.pointer);
      return own ?? [];
    });
    const calls = parts.filter((part) => part.kind === 'tool-call');
    const members = membersOf(returned);
    const hasOwn = Object.keys(members).length > 0 || calls.some(({ state }) => state?.of === this.#target.id);
    const isNeeded = returnsReasoning === 'always' || (returnsReasoning === 'tools' && isReturned && calls.length > 0);
    return isNeeded && !hasOwn ? { reasoning_content: ' ' } : members;
  }

  /** The member for what a call needs back. Of the calls of one message Gemini signs the first. */
  ofCall({ state, pointer }: ToolCallPart, isFirst: boolean, turn: number): Members {
    const isOwn = state?.of === this.#target.id;
    const extra = isOwn ? this.#parsed(state.value) : null;
    if (state !== null && extra === null) this.#ignored.add(pointer);
    if (extra !== null) return { extra_content: extra };
    if (!this.#target.checksSignatures || !isFirst || turn < this.#asked) return {};
    this.#ignored.add(pointer);
    return { extra_content: unsigned };
  }

  #returned({ text, signature }: ReasoningPart): Returned | null {
    if (signature === null)
      return this.#target.returnsReasoning === null
        ? null
        : { text, state: { member: 'reasoning_content', details: [], extra: {} } };
    const value = signature.of === this.#target.id ? this.#parsed(signature.value) : null;
    const state = value === null ? null : readState(value, text);
    return state === null ? null : { text, state };
  }

  /** The parsed object; null for anything but an object, and for too many values. */
  #parsed(value: string): JsonObject | null {
    const scanner = new JsonScanner(Buffer.from(value), { maxValues: this.#valuesLeft });
    while (!scanner.advance());
    this.#valuesLeft -= scanner.values;
    const parsed = scanner.fault === null ? parseForeign(value) : null;
    return isObject(parsed) ? parsed : null;
  }
}

/** True if the user says something, and not only next to the results of tools, as coding agents do. */
function asks({ role, parts }: Turn): boolean {
  if (role !== 'user' || parts.some(({ kind }) => kind === 'tool-result')) return false;
  return parts.some((part) => !isBlankText(part));
}

function membersOf(returned: ReadonlyArray<Returned>): Members {
  const members: Record<string, WritableJson> = {};
  for (const { text, state } of returned)
    if (state.member !== null && text !== '') members[state.member] = String(members[state.member] ?? '') + text;
  const details = joinedDetails(returned);
  const extra = new ExtraContent();
  for (const { state } of returned) extra.add(state.extra);
  return {
    ...members,
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(extra.isEmpty ? {} : { extra_content: extra.value }),
  };
}

/** The details of all parts. What came without a text came after its text, and may be more of the same details. */
function joinedDetails(returned: ReadonlyArray<Returned>): ReadonlyArray<JsonObject> {
  const joined = new ReasoningDetails();
  for (const { text, state } of returned)
    for (const detail of state.details)
      if (text === '' && typeof detail.index === 'number') joined.add(detail);
      else joined.append(detail);
  return joined.all;
}
