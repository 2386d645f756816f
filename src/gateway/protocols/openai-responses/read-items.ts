import type { AnswerPart } from '#gateway/neutral/answer.ts';
import type { Signature } from '#gateway/neutral/conversation.ts';
import { argumentsTextOf } from '#gateway/protocols/arguments-text.ts';
import { nameOr } from '#gateway/protocols/call-ids.ts';
import { listOr } from '#gateway/protocols/parsing.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';

/** A part of an item. A provider may have no id for a call. */
export type ItemPart =
  | Exclude<AnswerPart, { readonly kind: 'tool-call' }>
  | { readonly kind: 'tool-call'; readonly id: string | null; readonly name: string; readonly arguments: string };

export type ItemKind = 'message' | 'reasoning' | 'call' | 'unsaid' | 'unreadable';

/**
 * Items that say nothing to the client: what the provider did with tools of its own, and what it needs itself
 * (https://platform.openai.com/docs/api-reference/responses/object#responses-object-output).
 */
const unsaidTypes: ReadonlySet<Json | undefined> = new Set([
  ...['web_search_call', 'file_search_call', 'code_interpreter_call', 'mcp_call', 'mcp_list_tools'],
  ...['compaction', 'compaction_summary'],
]);

/**
 * The kind of an item. One of another type may ask the client for something, or be a part of the answer, so it must not
 * vanish.
 */
export function kindOfItem({ type }: JsonObject): ItemKind {
  if (type === 'message' || type === 'reasoning') return type;
  if (type === 'function_call') return 'call';
  return unsaidTypes.has(type) ? 'unsaid' : 'unreadable';
}

/** The parts; null if the item cannot be read. @param provider the name of what can read its opaque reasoning */
export function partsOfItem(item: JsonObject, provider: string): ReadonlyArray<ItemPart> | null {
  switch (kindOfItem(item)) {
    case 'message':
      return messageParts(item.content);
    case 'reasoning':
      return reasoningParts(item, provider);
    case 'call': {
      const name = nameOr(item.name);
      const id = nameOr(item.call_id) ?? nameOr(item.id);
      return name === null ? null : [{ kind: 'tool-call', id, name, arguments: argumentsTextOf(item.arguments) }];
    }
    case 'unsaid':
      return [];
    case 'unreadable':
      return null;
  }
}

/** The parts of a message. The content is a text where a server is not exactly OpenAI. */
function messageParts(content: Json | undefined): ReadonlyArray<ItemPart> | null {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  const parts = listOr(content).map((part) => (isObject(part) ? messagePart(part) : null));
  return parts.includes(null) ? null : parts.flatMap((part) => (part === null || part.text === '' ? [] : [part]));
}

function messagePart({ type, text, refusal }: JsonObject): { kind: 'text' | 'refusal'; text: string } | null {
  if (type === 'refusal') return typeof refusal === 'string' ? { kind: 'refusal', text: refusal } : null;
  return (type === 'output_text' || type === 'text') && typeof text === 'string' ? { kind: 'text', text } : null;
}

function reasoningParts(item: JsonObject, provider: string): ReadonlyArray<ItemPart> {
  const text = reasoningText(item);
  const signature = signatureOf(item, provider, text === '');
  return text === '' && signature === null ? [] : [{ kind: 'reasoning', text, signature }];
}

/**
 * The text of the reasoning: its own where the provider shows it, as those of open models do, else the summary
 * (https://cookbook.openai.com/articles/gpt-oss/handle-raw-cot).
 */
export function reasoningText({ content, summary }: JsonObject): string {
  return textsIn(content).join('') || textsIn(summary).join(betweenSummaries);
}

/** What separates parts of a summary, each of which begins with a heading. */
export const betweenSummaries = '\n\n';

function textsIn(parts: Json | undefined): ReadonlyArray<string> {
  return listOr(parts).flatMap((part) => (isObject(part) && typeof part.text === 'string' ? [part.text] : []));
}

/** The signature; null without an opaque part. */
export function signatureOf(
  { encrypted_content: value }: JsonObject,
  of: string,
  isRedacted: boolean,
): Signature | null {
  return typeof value === 'string' && value !== '' ? { of, value, isRedacted } : null;
}
