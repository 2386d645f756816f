import { closest, distance } from 'fastest-levenshtein';
import { listedTypes } from '#domain/histories.ts';
import { textThat } from '#shared/codecs/text.ts';

const known = new Set(listedTypes);
/** Maximum number of letters that differ between a name and the type that is suggested for it. */
const maxDifferences = 4;
/** A longer name is like no type, so none is looked for. */
const maxCharacters = 60;

/** Histories list these types. A near miss gets the type that it resembles. */
export const ListedEventType = textThat(
  'ListedEventType',
  (type) => (known.has(type) ? null : `must be a type of event that /docs/events lists${suggestionFor(type)}`),
  { enum: [...listedTypes] },
);

function suggestionFor(type: string): string {
  if (type.length > maxCharacters) return '';
  const near = closest(type, listedTypes);
  return distance(type.toLowerCase(), near.toLowerCase()) <= maxDifferences ? `, perhaps ${near}` : '';
}
