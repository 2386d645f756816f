import { diff } from 'fast-myers-diff';

/** Plain text, a name, removed text or inserted text. */
export interface SentencePart {
  readonly kind: 'text' | 'code' | 'del' | 'ins';
  readonly text: string;
}

export interface Change {
  readonly op: 'add' | 'del' | 'mod';
  readonly parts: ReadonlyArray<SentencePart>;
}

export const plain = (text: string): SentencePart => ({ kind: 'text', text });
export const code = (text: string): SentencePart => ({ kind: 'code', text });
export const removed = (text: string): SentencePart => ({ kind: 'del', text });
export const inserted = (text: string): SentencePart => ({ kind: 'ins', text });

/** If more words than this differ, the whole text counts as replaced, because that is easier to read. */
const maxWords = 400;

/** Compares two texts word by word. */
export function wordChanges(before: string, after: string): ReadonlyArray<SentencePart> {
  const one = wordsOf(before);
  const other = wordsOf(after);
  if (one.length + other.length > maxWords) return [removed(shortened(before)), plain(' '), inserted(shortened(after))];
  const parts: SentencePart[] = [];
  let at = 0;
  for (const [start, end, from, to] of diff(one, other)) {
    if (start > at) parts.push(plain(one.slice(at, start).join('')));
    if (end > start) parts.push(removed(one.slice(start, end).join('')));
    if (end > start && to > from) parts.push(plain(' '));
    if (to > from) parts.push(inserted(other.slice(from, to).join('')));
    at = end;
  }
  if (at < one.length) parts.push(plain(one.slice(at).join('')));
  return parts;
}

function wordsOf(text: string): string[] {
  return text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
}

const maxShown = 120;

export function shortened(text: string): string {
  return text.length <= maxShown ? text : `${text.slice(0, maxShown - 1)}…`;
}
