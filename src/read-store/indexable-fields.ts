import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Indexes, Where } from './read-store.ts';

/** The fields of all indexes, always in the same order. */
export function indexedFields(indexes: Indexes): ReadonlyArray<string> {
  return [...new Set(indexes.flat())].sort();
}

/**
 * The fields of the index that fits a `Where`.
 * @throws UnavailableError if the documents have no such index: those of a newer release are being made
 */
export function declaredIndex(indexes: Indexes, where: Where): ReadonlyArray<string> {
  if (Object.keys(where).length === 0) return [];
  const found = findIndex(indexes, where);
  if (found === undefined) throw noIndex(where);
  return found;
}

/** The fields of the index on exactly the fields of a `Where`, in any order; undefined if none was declared. */
export function findIndex(indexes: Indexes, where: Where): ReadonlyArray<string> | undefined {
  const asked = Object.keys(where);
  return indexes.find((fields) => fields.length === asked.length && asked.every((field) => fields.includes(field)));
}

function noIndex(where: Where): UnavailableError {
  return new UnavailableError(`The read model has no index on ${Object.keys(where).join(', ')} yet.`);
}
