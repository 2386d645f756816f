import type { AuditEntry, PatchOperation } from '#dashboard/page/api/records.ts';

type NamedEntry = Pick<AuditEntry, 'position' | 'resource' | 'changes'>;

/** The name of a resource according to entries of the audit. */
export interface KnownName {
  readonly kind: string;
  readonly id: string;
  /** The last name in the entries; null if they have none. */
  readonly name: string | null;
  readonly isDeleted: boolean;
}

/** @param entries in any order */
export function namesInEntries(entries: ReadonlyArray<NamedEntry>): ReadonlyArray<KnownName> {
  const known = new Map<string, KnownName>();
  for (const { resource, changes } of entries.toSorted((one, other) => one.position - other.position)) {
    const { kind, id } = resource;
    const before = known.get(`${kind} ${id}`) ?? { kind, id, name: null, isDeleted: false };
    known.set(`${kind} ${id}`, (changes ?? []).reduce(nameAfter, before));
  }
  return [...known.values()];
}

function nameAfter(known: KnownName, { path, value }: PatchOperation): KnownName {
  const member = known.kind === 'phone-number' ? 'number' : 'name';
  if (path === `/${member}`) return typeof value === 'string' ? { ...known, name: value } : known;
  if (path !== '') return known;
  if (value === null || value === undefined) return { ...known, isDeleted: true };
  const name = (value as Readonly<Record<string, unknown>>)[member];
  return typeof name === 'string' ? { ...known, name } : known;
}
