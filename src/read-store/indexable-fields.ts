import type { Indexes, Where } from './read-store.ts';

/** The fields that the indexes hold, in an order that is always the same. */
export function indexedFields(indexes: Indexes): ReadonlyArray<string> {
  return [...new Set(indexes.flat())].sort();
}

/** The fields of the index that fits a `Where`. @throws Error if no such index was declared */
export function declaredIndex(indexes: Indexes, where: Where): ReadonlyArray<string> {
  const asked = Object.keys(where);
  if (asked.length === 0) return [];
  const found = indexes.find(
    (fields) => fields.length === asked.length && asked.every((field) => fields.includes(field)),
  );
  if (found === undefined) throw new Error(`No index is declared on ${asked.join(', ')}.`);
  return found;
}
