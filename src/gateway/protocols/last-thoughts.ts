import type { Part } from '#gateway/neutral/conversation.ts';

/**
 * Removes thoughts that providers refuse at the end of what an assistant said
 * (https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking,
 * https://platform.openai.com/docs/guides/reasoning#keeping-reasoning-items-in-context). An answer that is cut off in a
 * thought leaves such a turn.
 * @param ignored gets the places of the thoughts
 */
export function withoutLastThoughts(parts: ReadonlyArray<Part>, ignored: Set<string>): ReadonlyArray<Part> {
  const end = parts.findLastIndex(({ kind }) => kind !== 'reasoning') + 1;
  for (const { pointer } of parts.slice(end)) ignored.add(pointer);
  return parts.slice(0, end);
}
