import type { DocumentValue } from '#read-store/read-store.ts';
import { recordLast } from '#read-store/stored-document.ts';

/** Returns a document as JSON text; an empty text for null. @throws Error for a value that JSON cannot represent */
export function documentText(id: string, value: DocumentValue | null): string {
  if (value === null) return '';
  const text: unknown = JSON.stringify(recordLast(value));
  if (typeof text !== 'string') throw new Error(`Document ${id} is a ${typeof value}, which JSON cannot hold.`);
  return text;
}
