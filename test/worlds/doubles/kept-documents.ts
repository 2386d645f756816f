import { indexedField } from '#read-store/indexable-fields.ts';
import type { CollectionDefinition, DocumentValue, DocumentWrite, Where } from '#read-store/read-store.ts';

/** A document, or what is left of a removed one: its text is null. */
export interface KeptDocument {
  readonly order: number;
  readonly position: number;
  readonly text: string | null;
}

/** A generation as it is kept. */
export interface KeptGeneration extends CollectionDefinition {
  readonly number: number;
  readonly begunAt: number;
  complete: boolean;
  readonly documents: Map<string, KeptDocument>;
}

/** Stores a write, unless a later one is stored. At the same position a document wins over its removal. */
export function applyWrite(write: DocumentWrite, documents: Map<string, KeptDocument>): void {
  const { position } = write;
  if (write.kind === 'delete-where') {
    for (const [id, { text, position: before }] of documents)
      if (text !== null && before < position && matches(JSON.parse(text), write.where))
        documents.set(id, { order: 0, position, text: null });
    return;
  }
  const before = documents.get(write.id)?.position ?? Number.NEGATIVE_INFINITY;
  if (write.kind === 'put' && position >= before)
    documents.set(write.id, { order: write.order, position, text: write.body });
  if (write.kind === 'delete' && position > before) documents.set(write.id, { order: 0, position, text: null });
}

/** Whether a document has the values of a declared index. */
export function matches(value: DocumentValue, where: Where): boolean {
  return Object.entries(where).every(([field, wanted]) => indexedField(value, field) === wanted);
}
