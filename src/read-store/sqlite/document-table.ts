import { declaredIndex, indexedField, indexedFields } from '#read-store/indexable-fields.ts';
import type { DocumentValue, Indexes, Where } from '#read-store/read-store.ts';

/** The value of a column. A boolean is a blob of one byte, so that it equals no number and no text. */
export type ColumnValue = string | number | Uint8Array | null;

const yes = new Uint8Array([1]);
const no = new Uint8Array([0]);
const unindexable = new Uint8Array([2]);

export function tableName(generation: number): string {
  return `documents${generation}`;
}

export function createTable(generation: number, indexes: Indexes): string {
  // There is a column for each indexed field, in their order. A column without a type stores each value unchanged.
  // Rows are stored in the order of their creation, not of their ids.
  const columns = indexedFields(indexes).map((_, index) => `, ${column(index)}`);
  return `CREATE TABLE ${tableName(generation)} (
    id TEXT NOT NULL UNIQUE, ord INTEGER NOT NULL, position INTEGER NOT NULL, body TEXT NOT NULL${columns.join('')})`;
}

/** Statements that create only the missing indexes. */
export function indexStatements(generation: number, indexes: Indexes): ReadonlyArray<string> {
  return [[], ...indexes].map((fields) => createIndex(generation, indexes, fields));
}

/** Does nothing if the index exists. */
export function createIndex(generation: number, indexes: Indexes, fields: ReadonlyArray<string>): string {
  const columns = columnsOf(indexes, fields);
  const name = [`${tableName(generation)}By`, ...columns].join('_');
  return `CREATE INDEX IF NOT EXISTS ${name} ON ${tableName(generation)} (${[...columns, 'ord', 'id'].join(', ')})`;
}

/** Counts the different values of an index on some fields. */
export function countIndexedValues(generation: number, indexes: Indexes, fields: ReadonlyArray<string>): string {
  const columns = columnsOf(indexes, fields);
  if (columns.length === 0) return 'SELECT 1 AS count';
  return `SELECT count(*) AS count FROM (SELECT DISTINCT ${columns.join(', ')} FROM ${tableName(generation)})`;
}

/**
 * Writes a document unless a later document is stored. The parameters are the id, the order, the position, the body and
 * the indexed fields.
 */
export function putDocument(generation: number, indexes: Indexes): string {
  const names = ['id', 'ord', 'position', 'body', ...columnsOf(indexes, indexedFields(indexes))];
  const updates = names.slice(1).map((name) => `${name} = excluded.${name}`);
  return `INSERT INTO ${tableName(generation)} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})
    ON CONFLICT (id) DO UPDATE SET ${updates.join(', ')} WHERE excluded.position >= position`;
}

/**
 * Writes the position and the body of a document whose order and indexed fields are as they are stored, unless a later
 * one is stored. SQLite writes no entry of an index for it, while `putDocument` writes one in each index. Its
 * parameters are those of `putDocument`, by their numbers.
 */
export function updateDocument(generation: number, indexes: Indexes): string {
  const indexed = ['ord', ...columnsOf(indexes, indexedFields(indexes))];
  // The id is the first parameter, the position the third, the body the fourth.
  const isUnchanged = indexed.map((name, index) => `${name} IS ?${index === 0 ? 2 : index + 4}`);
  return `UPDATE ${tableName(generation)} SET position = ?3, body = ?4
    WHERE id = ?1 AND position <= ?3 AND ${isUnchanged.join(' AND ')}`;
}

/** The conditions in the order of `whereValues`. */
export function whereConditions(indexes: Indexes, where: Where): ReadonlyArray<string> {
  return columnsOf(indexes, declaredIndex(indexes, where)).map((name) => `${name} IS ?`);
}

export function whereValues(indexes: Indexes, where: Where): ReadonlyArray<ColumnValue> {
  return declaredIndex(indexes, where).map((field) => columnValue(where[field]));
}

export function columnValues(fields: ReadonlyArray<string>, value: DocumentValue): ReadonlyArray<ColumnValue> {
  return fields.map((field) => columnValue(indexedField(value, field)));
}

function columnValue(value: unknown): ColumnValue {
  switch (typeof value) {
    case 'string':
    case 'number':
      return value;
    case 'boolean':
      return value ? yes : no;
    default:
      return value === null || value === undefined ? null : unindexable;
  }
}

function columnsOf(indexes: Indexes, fields: ReadonlyArray<string>): ReadonlyArray<string> {
  const all = indexedFields(indexes);
  return fields.map((field) => column(all.indexOf(field)));
}

function column(index: number): string {
  return `field${index}`;
}
