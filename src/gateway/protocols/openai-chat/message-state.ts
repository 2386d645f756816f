import type { Signature } from '#gateway/neutral/conversation.ts';
import { listOr } from '#gateway/protocols/parsing.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';

/** The members for reasoning of DeepSeek and many others, of vLLM and OpenRouter, and of Ollama. */
export const reasoningMembers = ['reasoning_content', 'reasoning', 'thinking'] as const;

/** The member for the objects of OpenRouter, which may have the text too. */
export const detailsMember = 'reasoning_details';

/**
 * What a provider of chats may need back with a message: DeepSeek the text
 * (https://api-docs.deepseek.com/guides/thinking_mode), OpenRouter `reasoning_details`
 * (https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks), and Gemini's endpoint
 * `extra_content` (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
export interface MessageState {
  /** The member in which the text of the reasoning came; null if no member of its own had it. */
  readonly member: string | null;
  readonly details: ReadonlyArray<JsonObject>;
  /** What `extra_content` has; empty for nothing. */
  readonly extra: JsonObject;
}

const [usualMember] = reasoningMembers;

/**
 * The state as the signature of a reasoning. A text is in the reasoning alone: where the details repeat it, each has
 * the length of its part.
 * @param of the target that needs it back
 * @param text that of the reasoning; null if it is not known
 */
export function stateSignature({ member, details, extra }: MessageState, of: string, text: string | null): Signature {
  const written = text !== null && textOf(details) === text ? withLengths(details) : details;
  const value = {
    ...(member === usualMember ? {} : { member }),
    ...(details.length === 0 ? {} : { reasoning_details: written }),
    ...(Object.keys(extra).length === 0 ? {} : { extra_content: extra }),
  };
  return { of, value: JSON.stringify(value), isRedacted: text === '' };
}

/**
 * The state in the parsed value of such a signature; null if it does not fit the text, which a client may have changed.
 */
export function readState(value: JsonObject, text: string): MessageState | null {
  const { member = usualMember, reasoning_details: details = [], extra_content: extra = {} } = value;
  if (!isMember(member) || !Array.isArray(details) || !details.every(isObject) || !isObject(extra)) return null;
  const whole = withTexts(details, text);
  return whole === null ? null : { member, details: whole, extra };
}

export function detailsIn(message: JsonObject): ReadonlyArray<JsonObject> {
  return listOr(message[detailsMember]).filter(isObject);
}

function isMember(value: Json): value is string | null {
  return value === null || reasoningMembers.some((name) => name === value);
}

/** Members with the text of the reasoning. */
const detailTexts = ['text', 'summary'] as const;

/** The text of all details together. */
function textOf(details: ReadonlyArray<JsonObject>): string {
  const texts = details.flatMap((detail) => detailTexts.map((name) => detail[name]));
  return texts.filter((text) => typeof text === 'string').join('');
}

function withLengths(details: ReadonlyArray<JsonObject>): ReadonlyArray<JsonObject> {
  return details.map((detail) => mapTexts(detail, (text) => (typeof text === 'string' ? text.length : text)));
}

function withTexts(details: ReadonlyArray<JsonObject>, text: string): ReadonlyArray<JsonObject> | null {
  let at = 0;
  const partOf = (length: Json): Json => {
    if (typeof length !== 'number') return length;
    at += length;
    return text.slice(at - length, at);
  };
  const whole = details.map((detail) => mapTexts(detail, partOf));
  return at === 0 || at === text.length ? whole : null;
}

/** Changes the texts in their places, in the order of `textOf`. */
function mapTexts(detail: JsonObject, change: (text: Json) => Json): JsonObject {
  const changed = new Map<string, Json>();
  for (const name of detailTexts) if (detail[name] !== undefined) changed.set(name, change(detail[name]));
  return Object.fromEntries(Object.entries(detail).map(([name, value]) => [name, changed.get(name) ?? value]));
}
