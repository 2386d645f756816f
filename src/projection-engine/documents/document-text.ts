import type { DocumentValue } from '#read-store/read-store.ts';
import { recordLast } from '#read-store/stored-document.ts';

/** A document as JSON text; none for one that is not there. @throws Error for what JSON cannot hold */
export function documentText(id: string, value: DocumentValue | null): string {
  if (value === null) return '';
  const text: unknown = JSON.stringify(recordLast(value));
  if (typeof text !== 'string') throw new Error(`Document ${id} is a ${typeof value}, which JSON cannot hold.`);
  return text;
}
