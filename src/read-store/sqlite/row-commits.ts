import { indexedFields } from '#read-store/indexable-fields.ts';
import type { DocumentWrite, Generation, GenerationCommit, ReadStoreWriter, Where } from '#read-store/read-store.ts';
import { type ColumnValue, columnValues } from './document-table.ts';

/** Writes as the table takes them. They hold texts and numbers alone, so that another thread gets them cheaply. */
export type RowWrite =
  /** Rows one after the other, each with its id, order, position, body and indexed fields. */
  | { readonly kind: 'put'; readonly values: ReadonlyArray<ColumnValue> }
  | { readonly kind: 'delete'; readonly id: string; readonly position: number }
  | { readonly kind: 'delete-where'; readonly where: Where; readonly position: number };

/** A commit of one generation, as rows. */
export interface RowCommit {
  readonly generation: Generation;
  readonly writes: ReadonlyArray<RowWrite>;
  readonly checkpoint: number;
}

/** A stored document. */
export interface DocumentRow {
  readonly order: number;
  readonly position: number;
  readonly body: string;
}

/** A writer of the file that takes commits as rows, and gives documents as texts. */
export interface RowStore extends Omit<ReadStoreWriter, 'commit' | 'read'> {
  /** @see ReadStoreWriter.read */
  read(
    generation: Generation,
    ids: ReadonlyArray<string>,
    maxCharacters?: number,
  ): Promise<ReadonlyMap<string, DocumentRow>>;
  /** @see ReadStoreWriter.commit */
  commit(commits: ReadonlyArray<RowCommit>, more?: boolean): Promise<void>;
  /** The numbers of the generations that are being filled: those that are not complete. */
  readonly filling: ReadonlySet<number>;
}

/** Members of a row before its indexed fields. */
const ownColumns = 4;
const bodyColumn = 3;

/** The number of values of each row of a generation. */
export function rowWidth({ indexes }: Generation): number {
  return ownColumns + indexedFields(indexes).length;
}

/** The length of the JSON texts of a commit. */
export function charactersOf({ generation, writes }: RowCommit): number {
  const width = rowWidth(generation);
  let characters = 0;
  for (const write of writes) {
    if (write.kind !== 'put') continue;
    for (let at = bodyColumn; at < write.values.length; at += width) characters += String(write.values[at]).length;
  }
  return characters;
}

/** The number of documents that a commit puts. */
export function countPuts({ generation, writes }: RowCommit): number {
  const values = writes.reduce((sum, write) => sum + (write.kind === 'put' ? write.values.length : 0), 0);
  return values / rowWidth(generation);
}

/** A commit as rows. */
export function rowCommit({ generation, writes, checkpoint }: GenerationCommit): RowCommit {
  return { generation, checkpoint, writes: rowWrites(generation, writes) };
}

function rowWrites({ indexes }: Generation, writes: ReadonlyArray<DocumentWrite>): ReadonlyArray<RowWrite> {
  const fields = indexedFields(indexes);
  const rows: RowWrite[] = [];
  let values: ColumnValue[] | null = null;
  for (const write of writes) {
    if (write.kind !== 'put') {
      rows.push(write);
      values = null;
      continue;
    }
    if (values === null) {
      values = [];
      rows.push({ kind: 'put', values });
    }
    values.push(write.id, write.order, write.position, write.body, ...columnValues(fields, write.value));
  }
  return rows;
}
