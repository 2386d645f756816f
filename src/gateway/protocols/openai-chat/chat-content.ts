import type { AnswerEvent } from '#gateway/neutral/answer-event.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { detailsMember, reasoningMembers } from './message-state.ts';

export type SaidPart = Extract<AnswerEvent, { readonly kind: 'text' | 'refusal' | 'reasoning' }>;

/**
 * What a message or a delta says, in order; null if it cannot be read. Mistral's content may be a list of parts with
 * `text`, `thinking` and `reference` (https://docs.mistral.ai/capabilities/reasoning), Databricks' one with `reasoning`
 * and a summary.
 */
export function saidIn(message: JsonObject): ReadonlyArray<SaidPart> | null {
  const { content, refusal, audio, images } = message;
  const parts: (SaidPart | null)[] = [];
  if (isObject(audio) || (Array.isArray(images) && images.length > 0)) return null;
  const reasoning = reasoningIn(message);
  if (reasoning !== null) parts.push({ kind: 'reasoning', text: reasoning.text });
  if (typeof content === 'string') parts.push({ kind: 'text', text: content });
  else if (content !== undefined && content !== null) for (const part of listOf(content)) parts.push(partOf(part));
  if (refusal !== undefined && refusal !== null) parts.push(said('refusal', refusal));
  return parts.includes(null) ? null : parts.filter((part): part is SaidPart => part !== null && part.text !== '');
}

function listOf(content: Json): ReadonlyArray<Json> {
  return Array.isArray(content) ? content : [content];
}

/** The reasoning, with the member that has its text. Several members may have the same text. */
export function reasoningIn(message: JsonObject): { readonly member: string; readonly text: string } | null {
  for (const member of [...reasoningMembers, detailsMember]) {
    const text = textIn(message[member]);
    if (text) return { member, text };
  }
  return null;
}

function partOf(part: Json): SaidPart | null {
  if (typeof part === 'string') return { kind: 'text', text: part };
  if (!isObject(part)) return null;
  switch (part.type ?? 'text') {
    case 'text':
    case 'output_text':
      return part.text === undefined ? null : said('text', part.text);
    case 'refusal':
      return said('refusal', part.refusal ?? part.text);
    case 'thinking':
    case 'reasoning':
      return said('reasoning', textIn(part) ?? '');
    case 'redacted_thinking':
    case 'reference':
    case 'tool_reference':
      // It has no words: hidden reasoning, or the number of a source.
      return { kind: 'text', text: '' };
    default:
      return null;
  }
}

/** The part; null for a text that is none. */
function said(kind: SaidPart['kind'], value: Json | undefined): SaidPart | null {
  const text = value === undefined || value === null ? '' : textIn(value);
  return text === null ? null : { kind, text };
}

/** The text of a value, of its parts, or in the member of it that has one; null without any. */
function textIn(value: Json | undefined): string | null {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map((part) => textIn(part) ?? '').join('');
  if (!isObject(value)) return null;
  return textIn(value.thinking ?? value.text ?? value.reasoning ?? value.summary ?? value.content ?? value.value);
}
