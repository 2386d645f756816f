import type { Signature } from '#gateway/neutral/conversation.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';

/**
 * Adds the `extra_content` of one more piece of a message or a call, in which providers have what OpenAI's protocol has no
 * member for: `{"google": {"thought_signature": …}}` (https://ai.google.dev/gemini-api/docs/thought-signatures). What
 * comes later counts.
 */
export function withExtra(before: JsonObject, piece: Json | undefined): JsonObject {
  if (!isObject(piece)) return before;
  const added = Object.entries(piece).map(([provider, said]) => {
    const known = before[provider];
    return [provider, isObject(said) ? { ...(isObject(known) ? known : {}), ...withoutThought(said) } : said] as const;
  });
  const all = { ...before, ...Object.fromEntries(added) };
  return Object.fromEntries(Object.entries(all).filter(([, said]) => !isObject(said) || Object.keys(said).length > 0));
}

/** The mark of Gemini's thoughts belongs to one piece of a text, and not to the message. */
function withoutThought({ thought: _, ...said }: JsonObject): JsonObject {
  return said;
}

/**
 * What a provider needs back with a call; null for nothing.
 * @param of the target that needs it back
 */
export function callState(extra: JsonObject, of: string): Signature | null {
  return Object.keys(extra).length === 0 ? null : { of, value: JSON.stringify(extra), isRedacted: true };
}
