import { audit } from '#projections/audit.ts';

interface Identified {
  readonly id: string;
  readonly value: object;
}

/** The members of documents that hold a position in the log. */
const positions: ReadonlySet<string> = new Set(['position', 'createdAtPosition']);

/**
 * Documents of a read model as they compare between stores, whose positions differ: without them, wherever they are in
 * a document. The audit trail names its documents by position, so they are renumbered in its order.
 */
export function withoutPositions(collection: string, documents: ReadonlyArray<Identified>): ReadonlyArray<object> {
  const isAudit = collection === audit.name;
  const ordered = isAudit ? documents.toSorted((one, other) => Number(one.id) - Number(other.id)) : documents;
  return ordered.map(({ id, value }, index) => ({ id: isAudit ? `${index}` : id, value: stripped(value) }));
}

function stripped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stripped);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([name]) => !positions.has(name));
  return Object.fromEntries(members.map(([name, member]) => [name, stripped(member)]));
}
