import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { DocumentValue, Indexes, Where } from './read-store.ts';

/** The fields of all indexes, always in the same order. */
export function indexedFields(indexes: Indexes): ReadonlyArray<string> {
  return [...new Set(indexes.flat())].sort();
}

/** @throws UnavailableError if the documents have no such index: those of a newer release are being made */
export function declaredIndex(indexes: Indexes, where: Where): ReadonlyArray<string> {
  if (Object.keys(where).length === 0) return [];
  const found = findIndex(indexes, where);
  if (found === undefined) throw noIndex(where);
  return found;
}

/** The index on exactly the fields of the `Where`, in any order; undefined if none was declared. */
export function findIndex(indexes: Indexes, where: Where): ReadonlyArray<string> | undefined {
  const asked = Object.keys(where);
  return indexes.find((fields) => fields.length === asked.length && asked.every((field) => fields.includes(field)));
}

function noIndex(where: Where): UnavailableError {
  return new UnavailableError(`The read model has no index on ${Object.keys(where).join(', ')} yet.`);
}

/** Maximum length in UTF-16 units, because engines limit the size of an entry. */
const maxIndexedText = 500;

/** A value that equals no value of a filter. */
const unindexed = {};

/**
 * The document's own field or, if it has none with this name, that of its `record`. An absent field is null. No index
 * finds a long text.
 */
export function indexedField(value: DocumentValue, field: string): unknown {
  const holder = Object.hasOwn(value, field) ? value : memberOf(value, 'record');
  const found = memberOf(holder, field) ?? null;
  return typeof found === 'string' && found.length > maxIndexedText ? unindexed : found;
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}
