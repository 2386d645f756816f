import type { AuditEntry } from '#dashboard/page/api/records.ts';

const names = ['resource', 'type', 'actor', 'since', 'until'] as const;

/** Makes the query for the API from the filters in the address. A time without a zone is in the viewer's zone. */
export function auditQuery(search: URLSearchParams): string {
  const query = new URLSearchParams();
  for (const name of names) {
    const value = search.get(name) ?? '';
    if (value !== '') query.set(name, name === 'since' || name === 'until' ? momentOf(value) : value);
  }
  return query.toString();
}

export function fitsFilters(entry: AuditEntry, search: URLSearchParams): boolean {
  const asked = (name: (typeof names)[number]) => search.get(name) ?? '';
  const { resource, type, actor, time } = entry;
  if (asked('resource') !== '' && ![resource.kind, resource.id].includes(asked('resource'))) return false;
  if (asked('type') !== '' && type !== asked('type')) return false;
  if (asked('actor') !== '' && actor?.keyId !== asked('actor')) return false;
  if (asked('since') !== '' && Date.parse(time) < Date.parse(momentOf(asked('since')))) return false;
  return asked('until') === '' || Date.parse(time) < Date.parse(momentOf(asked('until')));
}

/** The moment in RFC 3339. Other texts stay unchanged, so that the service refuses them. */
function momentOf(text: string): string {
  const time = new Date(text.trim().replace(' ', 'T'));
  return Number.isNaN(time.getTime()) ? text : time.toISOString();
}
