import { parseForeign } from '#gateway/framing/foreign-json.ts';
import { keptText } from '#gateway/framing/json-text.ts';
import type { Json } from '#shared/json/json.ts';

/**
 * The text that a provider sends, or the JSON text of another value, which Anthropic and some providers of chats send.
 * @param given may be a kept text, which stays byte for byte
 */
export function argumentsTextOf(given: Json | undefined): string {
  if (typeof given === 'string') return given;
  const text = keptText(given);
  if (text === null || text === 'null') return '';
  const value = text.startsWith('"') ? parseForeign(text) : text;
  return typeof value === 'string' ? value : text;
}
