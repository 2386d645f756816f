import type { ReadOfLog } from '#domain/shared/log-mark.ts';
import { indexedFields } from '#read-store/indexable-fields.ts';
import type { DocumentWrite, Generation, GenerationCommit, ReadStoreWriter, Where } from '#read-store/read-store.ts';
import { type ColumnValue, columnValues } from './document-table.ts';

/** A write of only texts and numbers, which are cheap to send to another thread. */
export type RowWrite =
  /** The values of some rows in one list: of each row its id, order, position, body and indexed fields. */
  | { readonly kind: 'put'; readonly values: ReadonlyArray<ColumnValue> }
  | { readonly kind: 'delete'; readonly id: string; readonly position: number }
  | { readonly kind: 'delete-where'; readonly where: Where; readonly position: number };

export interface RowCommit {
  readonly generation: Generation;
  readonly writes: ReadonlyArray<RowWrite>;
  readonly checkpoint: number;
}

export interface DocumentRow {
  readonly order: number;
  readonly position: number;
  readonly body: string;
}

/** Takes commits as rows and returns documents as texts. */
export interface RowStore extends Omit<ReadStoreWriter, 'commit' | 'read'> {
  /** @see ReadStoreWriter.read */
  read(
    generation: Generation,
    ids: ReadonlyArray<string>,
    maxCharacters?: number,
  ): Promise<ReadonlyMap<string, DocumentRow>>;
  /** @see ReadStoreWriter.commit */
  commit(commits: ReadonlyArray<RowCommit>, more?: boolean, read?: ReadOfLog): Promise<void>;
  /** Writes a part of the next commit, which must be the next call: it stores this part with its own writes. */
  writePart(generation: Generation, write: RowWrite): Promise<void>;
  /** The numbers of incomplete generations. */
  readonly filling: ReadonlySet<number>;
}

/** A write ends with the row that reaches this number of characters of JSON, so that another thread can take it in parts. */
const maxWriteCharacters = 32 * 1024;

/** Number of columns of a row before its indexed fields. */
const ownColumns = 4;
const bodyColumn = 3;

export function rowWidth({ indexes }: Generation): number {
  return ownColumns + indexedFields(indexes).length;
}

/** The length of its JSON texts. */
export function charactersOf({ generation, writes }: RowCommit): number {
  const width = rowWidth(generation);
  let characters = 0;
  for (const write of writes) {
    if (write.kind !== 'put') continue;
    for (let at = bodyColumn; at < write.values.length; at += width) characters += String(write.values[at]).length;
  }
  return characters;
}

export function countPuts({ generation, writes }: RowCommit): number {
  const values = writes.reduce((sum, write) => sum + (write.kind === 'put' ? write.values.length : 0), 0);
  return values / rowWidth(generation);
}

export function rowCommit({ generation, writes, checkpoint }: GenerationCommit): RowCommit {
  return { generation, checkpoint, writes: rowWrites(generation, writes) };
}

function rowWrites({ indexes }: Generation, writes: ReadonlyArray<DocumentWrite>): ReadonlyArray<RowWrite> {
  const fields = indexedFields(indexes);
  const rows: RowWrite[] = [];
  let values: ColumnValue[] | null = null;
  let characters = 0;
  for (const write of writes) {
    if (write.kind !== 'put') {
      rows.push(write);
      values = null;
      continue;
    }
    if (values === null || characters >= maxWriteCharacters) {
      values = [];
      characters = 0;
      rows.push({ kind: 'put', values });
    }
    characters += write.body.length;
    values.push(write.id, write.order, write.position, write.body, ...columnValues(fields, write.value));
  }
  return rows;
}
