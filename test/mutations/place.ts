import ts from 'typescript';
import type { Change } from './operators.ts';

/**
 * Where a change is, by the words around it. A later state of the code has the same place although lines have moved,
 * comments have gone, and a few names have changed.
 */
export interface Place {
  readonly operator: string;
  readonly leading: string;
  readonly original: string;
  readonly following: string;
}

/** A change and where it is. */
export interface PlacedChange extends Change, Place {}

const wordsAround = 16;
const maxOriginalWords = 40;
/** Minimum share of words that two states of one place have in common. */
const leastLikeness = 0.6;

/** The places of changes of a file. */
export function placed(file: ts.SourceFile, changes: ReadonlyArray<Change>): ReadonlyArray<PlacedChange> {
  const tokens = tokensOf(file);
  return changes.map((change) => {
    const first = tokens.findIndex(({ start }) => start >= change.start);
    const end = tokens.findIndex(({ start }) => start >= change.end);
    const after = end === -1 ? tokens.length : end;
    return {
      ...change,
      leading: textOf(tokens.slice(Math.max(0, first - wordsAround), first)),
      original: textOf(tokens.slice(first, Math.min(after, first + maxOriginalWords))),
      following: textOf(tokens.slice(after, after + wordsAround)),
    };
  });
}

/** The change whose place is most like a place, or null if none is like it enough. */
export function findPlace<Candidate extends Place>(
  place: Place,
  candidates: ReadonlyArray<Candidate>,
): Candidate | null {
  let found: Candidate | null = null;
  let best = leastLikeness;
  for (const candidate of candidates) {
    if (candidate.operator !== place.operator) continue;
    const likeness = likenessOf(place, candidate);
    if (likeness < best || (found !== null && likeness === best)) continue;
    found = candidate;
    best = likeness;
  }
  return found;
}

/** Minimum share of common words among the changed text and its surroundings. */
export function likenessOf(one: Place, other: Place): number {
  const original = share(one.original, other.original);
  if (original < leastLikeness) return original;
  return Math.min(original, (share(one.leading, other.leading) + share(one.following, other.following)) / 2);
}

/** The words that two texts have in the same order, as a share of the longer text. */
function share(one: string, other: string): number {
  if (one === other) return 1;
  const [words, others] = [one.split(' '), other.split(' ')];
  let lengths: ReadonlyArray<number> = Array(others.length + 1).fill(0);
  for (const word of words) {
    const next = [0];
    for (const [index, otherWord] of others.entries()) {
      const extended = word === otherWord ? (lengths[index] ?? 0) + 1 : 0;
      next.push(Math.max(extended, lengths[index + 1] ?? 0, next[index] ?? 0));
    }
    lengths = next;
  }
  return (lengths.at(-1) ?? 0) / Math.max(words.length, others.length);
}

interface Token {
  readonly start: number;
  readonly text: string;
}

/** The tokens of a file, without comments. */
function tokensOf(file: ts.SourceFile): ReadonlyArray<Token> {
  const tokens: Token[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isJSDoc(node)) return;
    const children = node.getChildren(file);
    if (children.length > 0) children.forEach(visit);
    else if (node.getEnd() > node.getStart(file)) tokens.push({ start: node.getStart(file), text: node.getText(file) });
  };
  visit(file);
  return tokens;
}

function textOf(tokens: ReadonlyArray<Token>): string {
  return tokens.map(({ text }) => text).join(' ');
}
