import { isBlankText, joinTurns, type Part, type TextPart, type Turn } from '#gateway/neutral/conversation.ts';
import { withLaterControl } from '#gateway/protocols/cache-control.ts';

/** What a user says who says nothing: a blank text, or before an assistant that speaks first, as on a phone. */
export const nothing: TextPart = { kind: 'text', text: '.', pointer: '' };

/**
 * Removes blank texts, which Anthropic refuses. What asks for the cache up to one asks for it up to the part before.
 * @param ignored gets the place of what no part can ask
 */
export function withoutBlankTexts<Kept extends Part>(
  parts: ReadonlyArray<Kept>,
  ignored: Set<string>,
): ReadonlyArray<Kept> {
  const kept: Kept[] = [];
  for (const part of parts) {
    if (!isBlankText(part)) kept.push(part);
    else if ('cacheControl' in part && part.cacheControl !== undefined) {
      const before = withLaterControl(kept.at(-1), part.cacheControl);
      if (before === null) ignored.add(part.cacheControl.pointer);
      else kept[kept.length - 1] = before;
    }
  }
  return kept;
}

/**
 * The turns of the user and the assistant without blank texts. The user's stay, or Anthropic would continue what the
 * assistant said before.
 * @param ignored gets the places of what asks for the cache up to a text that does not stay
 */
export function turnsWithTexts(turns: ReadonlyArray<Turn>, ignored: Set<string>): ReadonlyArray<Turn> {
  const said = turns.flatMap(({ role, parts }): ReadonlyArray<Turn> => {
    if (role === 'user') return [{ role, parts }];
    const kept = role === 'assistant' ? withoutBlankTexts(parts, ignored) : [];
    return kept.length === 0 ? [] : [{ role, parts: kept }];
  });
  return joinTurns(said).map(({ role, parts }) =>
    role === 'user' ? { role, parts: saidByUser(parts, ignored) } : { role, parts },
  );
}

function saidByUser(parts: ReadonlyArray<Part>, ignored: Set<string>): ReadonlyArray<Part> {
  return withoutBlankTexts<Part>(parts.every(isBlankText) ? [nothing, ...parts] : parts, ignored);
}

/** The texts of the system. Not every model takes them between messages, so these follow those at the beginning. */
export function systemTextsIn(turns: ReadonlyArray<Turn>): ReadonlyArray<TextPart> {
  return turns.flatMap(({ role, parts }) => (role === 'system' ? parts.filter((part) => part.kind === 'text') : []));
}

/**
 * Removes spaces at the end: Anthropic continues the last message of the assistant, which must not end with a space.
 */
export function withoutBlankEnd(parts: ReadonlyArray<Part>): ReadonlyArray<Part> {
  const last = parts.at(-1);
  return last?.kind === 'text' ? [...parts.slice(0, -1), { ...last, text: last.text.trimEnd() }] : parts;
}
