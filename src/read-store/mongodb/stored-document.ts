import { type IndexDescription, Long } from 'mongodb';
import { indexedField } from '#projection-engine/documents/where-index.ts';
import { declaredIndex } from '#read-store/indexable-fields.ts';
import type { DocumentValue, DocumentWrite, FoldedDocument, Indexes, Where } from '#read-store/read-store.ts';
import { StoredDocument } from '#read-store/stored-document.ts';

/** What an index can hold; an object or a list is kept as an empty object, which equals nothing that is asked for. */
type IndexedValue = string | number | boolean | null | Readonly<Record<string, never>>;

/**
 * A document as it is stored. `state` is only ever written by `$max`, which compares objects member by member in their
 * order: the later position wins and, at the same position, what lives over what was removed. So writes may come in any
 * order, twice, or from a node that slept, and the outcome is the same; each is one atomic step found by id alone.
 *
 * `Position` is `Long` where it is written and `number` where it is read, because the driver returns a number.
 */
export interface DocumentRecord<Position = Long> {
  readonly _id: string;
  readonly state: LiveState<Position> | RemovedState<Position>;
}

export interface LiveState<Position = Long> {
  // The first two members, in this order, are what writes are guarded by.
  readonly position: Position;
  readonly order: Position;
  /** What the indexes hold of a field. */
  readonly [indexed: `by_${string}`]: IndexedValue;
  /** JSON text: no limit on depth, and any name of a member. */
  readonly body: string;
}

/** Left where a document was, for a day, so that a late write of an older position does not bring it back. */
export interface RemovedState<Position = Long> {
  readonly position: Position;
  /** Comes before every number. */
  readonly order: null;
  readonly removedAt: Date;
}

/** The collection of a generation's documents. */
export function documentsName(generation: number): string {
  return `documents${generation}`;
}

/** The number of the generation whose documents a collection holds; null for another collection. */
export function generationOf(collection: string): number | null {
  const number = /^documents(\d+)$/.exec(collection)?.[1];
  return number === undefined ? null : Number(number);
}

/** The indexes of a generation's collection; the one on all documents finds what was removed, too. */
export function indexDescriptions(indexes: Indexes): IndexDescription[] {
  return [[], ...indexes].map((fields) => ({
    key: Object.fromEntries([...fields.map(fieldPath), 'state.order', '_id'].map((path) => [path, 1] as const)),
  }));
}

/** The state that a write gives its document. */
export function stateOf(
  write: DocumentWrite & { readonly kind: 'put' | 'delete' },
  fields: ReadonlyArray<string>,
): LiveState | RemovedState {
  if (write.kind === 'delete') return removedAt(write.position);
  return {
    position: Long.fromNumber(write.position),
    order: Long.fromNumber(write.order),
    ...Object.fromEntries(
      fields.map((field) => [`by_${field}`, indexedValue(indexedField(write.value, field))] as const),
    ),
    body: write.body,
  };
}

/** The state of a document that the event at a position removed. */
export function removedAt(position: number): RemovedState {
  return { position: Long.fromNumber(position), order: null, removedAt: new Date() };
}

/** The conditions that hold a living document to a `Where`. @throws Error if no such index was declared */
export function whereConditions(indexes: Indexes, where: Where): Readonly<Record<string, unknown>> {
  const fields = declaredIndex(indexes, where);
  return Object.fromEntries(fields.map((field) => [fieldPath(field), where[field]] as const));
}

/** As folding needs it. */
export function foldedDocument({ state }: DocumentRecord<number>): FoldedDocument {
  if (state.order === null) return { order: 0, position: state.position, value: null, bytes: 0 };
  const { order, position, body } = state;
  return { order, position, value: JSON.parse(body), bytes: body.length };
}

/** As queries read it; null when it was removed. */
export function storedDocument<Value extends DocumentValue>({
  _id,
  state,
}: DocumentRecord<number>): StoredDocument<Value> | null {
  return state.order === null ? null : new StoredDocument(_id, state.order, state.body);
}

function indexedValue(value: unknown): IndexedValue {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
      return value;
    default:
      return value === null ? null : {};
  }
}

function fieldPath(field: string): string {
  return `state.by_${field}`;
}
