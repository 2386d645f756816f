import { type DocumentValue, recordLast, StoredDocument } from './stored-document.ts';

export interface ReadCollection {
  readonly name: string;
  /** @see Projection.disclaim */
  disclaim?(document: DocumentValue, lost: ReadonlySet<string>): DocumentValue | null;
}

/**
 * Leaves only one of the documents that claim the same resource with its claim: the one with the newest position. It
 * includes every event that an older one includes, so the older one is not stored yet as that event left it. Documents
 * that do not contradict each other are returned as they are, and none of them is parsed.
 * @param disclaim returns a document without the claims that it has lost; null leaves it out
 */
export function keepNewestClaims<Value extends DocumentValue>(
  documents: ReadonlyArray<StoredDocument<Value>>,
  disclaim: NonNullable<ReadCollection['disclaim']>,
): ReadonlyArray<StoredDocument<Value>> {
  const newest = new Map<string, StoredDocument<Value>>();
  let isContradicted = false;
  for (const document of documents) {
    for (const id of claimedBy(document)) {
      const other = newest.get(id);
      if (other !== undefined) isContradicted = true;
      if (other === undefined || other.position < document.position) newest.set(id, document);
    }
  }
  if (!isContradicted) return documents;
  return documents.flatMap((document) => {
    const { id, order, position } = document;
    const lost = claimedBy(document).filter((claim) => newest.get(claim) !== document);
    if (lost.length === 0) return [document];
    const value = disclaim(document.value, new Set(lost));
    return value === null ? [] : [new StoredDocument<Value>(id, order, JSON.stringify(recordLast(value)), position)];
  });
}

function claimedBy({ claims }: Pick<StoredDocument, 'claims'>): ReadonlyArray<string> {
  return claims === '' ? [] : claims.split(' ');
}
