import { isDeepStrictEqual } from 'node:util';
import type { Json } from '#shared/json/json.ts';

/** Items by their ids or keys. */
export type Items = ReadonlyMap<string, Json>;

/** What has changed between two versions of a list, by id. */
export interface ItemChanges {
  readonly added: ReadonlyArray<string>;
  readonly changed: ReadonlyArray<string>;
  readonly removed: ReadonlyArray<string>;
}

/** Compares items with the same id. */
export function itemChanges(before: Items, after: Items): ItemChanges {
  const ids = [...after.keys()];
  return {
    added: ids.filter((id) => !before.has(id)),
    changed: ids.filter((id) => before.has(id) && !isDeepStrictEqual(before.get(id), after.get(id))),
    removed: [...before.keys()].filter((id) => !after.has(id)),
  };
}

/** Maximum number of names in one sentence. */
const maxNames = 20;

/** One sentence for each kind: `Nodes added: greet, ask.` @param what names the items, in the plural */
export function describeItemChanges(what: string, { added, changed, removed }: ItemChanges): ReadonlyArray<string> {
  const kinds = [
    ['added', added],
    ['changed', changed],
    ['removed', removed],
  ] as const;
  return kinds.filter(([, ids]) => ids.length > 0).map(([kind, ids]) => `${what} ${kind}: ${listed(ids)}.`);
}

/** The first twenty names, for a sentence. */
export function listed(names: ReadonlyArray<string>): string {
  const shown = names
    .slice(0, maxNames)
    .map((name) => (name.length > maxCharacters ? `${name.slice(0, maxCharacters)}…` : name));
  const left = names.length - shown.length;
  return left === 0 ? shown.join(', ') : `${shown.join(', ')} and ${left} more`;
}

const maxCharacters = 80;
