import { type IndexDescription, Long } from 'mongodb';
import { declaredIndex, indexedField } from '#read-store/indexable-fields.ts';
import type {
  DocumentValue,
  DocumentWrite,
  FoldedDocument,
  Generation,
  Indexes,
  Where,
} from '#read-store/read-store.ts';
import { StoredDocument } from '#read-store/stored-document.ts';
import { clock } from '#shared/clock.ts';

/** The stored value of a field. An object or a list is stored as an empty object, which equals no value of a filter. */
type IndexedValue = string | number | boolean | null | Readonly<Record<string, never>>;

/**
 * A stored document. Only `$max` writes `state`. It compares objects member by member in their order: the later
 * position wins, and at the same position an existing document wins over a removed one. So writes may arrive in any
 * order, twice, or from a node that was suspended, and the result is the same. Each write is one atomic step that
 * finds its document by id alone.
 *
 * `Position` is `Long` where it is written and `number` where it is read, because the driver returns a number.
 */
export interface DocumentRecord<Position = Long> {
  readonly _id: string;
  readonly state: LiveState<Position> | RemovedState<Position>;
}

export interface LiveState<Position = Long> {
  // The first two members, in this order, decide which write wins.
  readonly position: Position;
  readonly order: Position;
  readonly [indexed: `by_${string}`]: IndexedValue;
  /** The document as JSON text, because that allows any depth and any name of a member. */
  readonly body: string;
}

/**
 * The state of a removed document. It is kept for a day, so that a late write of an older position does not restore the
 * document.
 */
export interface RemovedState<Position = Long> {
  readonly position: Position;
  /** Null sorts before every number. */
  readonly order: null;
  readonly removedAt: Date;
}

export function documentsName({ name, number }: Pick<Generation, 'name' | 'number'>): string {
  return `documents.${name}.${number}`;
}

export function holdsDocuments(collection: string): boolean {
  return /^documents\..+\.\d+$/.test(collection);
}

/** Describes the indexes. The one on all documents also finds removed ones. */
export function indexDescriptions(indexes: Indexes): IndexDescription[] {
  return [[], ...indexes].map((fields) => ({
    key: Object.fromEntries([...fields.map(fieldPath), 'state.order', '_id'].map((path) => [path, 1] as const)),
  }));
}

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

export function removedAt(position: number): RemovedState {
  return { position: Long.fromNumber(position), order: null, removedAt: new Date(clock.time()) };
}

/** The filter for existing documents. @throws Error if no such index was declared */
export function whereFilter(indexes: Indexes, where: Where): Readonly<Record<string, unknown>> {
  const fields = declaredIndex(indexes, where);
  return Object.fromEntries(fields.map((field) => [fieldPath(field), where[field]] as const));
}

export function foldedDocument({ state }: DocumentRecord<number>): FoldedDocument {
  if (state.order === null) return { order: 0, position: state.position, value: null, bytes: 0 };
  const { order, position, body } = state;
  return { order, position, value: JSON.parse(body), bytes: body.length };
}

/** The document; null if it was removed. */
export function storedDocument<Value extends DocumentValue>({
  _id,
  state,
}: DocumentRecord<number>): StoredDocument<Value> | null {
  return state.order === null ? null : new StoredDocument(_id, state.order, state.body, state.position);
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
