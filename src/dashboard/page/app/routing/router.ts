/** The views by the part of the address after `/dashboard/`. */
export const viewNames = [
  'overview',
  'flows',
  'templates',
  'gateway',
  'calls',
  'models',
  'files',
  'batches',
  'stores',
  'responses',
  'phone-numbers',
  'agent-profiles',
  'customers',
  'audit',
  'projects',
  'projections',
  'keys',
  'webhooks',
] as const;

export type ViewName = (typeof viewNames)[number];

export interface Place {
  readonly view: ViewName;
  /** The id, if the address names a resource; null for the view itself. */
  readonly id: string | null;
  /** Filters and the selection. It never has a key. */
  readonly search: URLSearchParams;
}

const base = '/dashboard';

/** Null if the page has no such view. */
export function readPlace(path: string, search = ''): Place | null {
  const [view = '', id = null, ...more] = path
    .slice(base.length)
    .split('/')
    .filter((part) => part !== '');
  if (!path.startsWith(base) || more.length > 0) return null;
  const found = viewNames.find((name) => name === (view === '' ? 'overview' : view));
  if (found === undefined || (found === 'overview' && id !== null)) return null;
  return { view: found, id: id === null ? null : decodeURIComponent(id), search: new URLSearchParams(search) };
}

export function addressOf(
  view: ViewName,
  id: string | null = null,
  search: Readonly<Record<string, string>> = {},
): string {
  const path = view === 'overview' ? base : `${base}/${view}`;
  const query = new URLSearchParams(Object.entries(search).filter(([, value]) => value !== '')).toString();
  return `${path}${id === null ? '' : `/${encodeURIComponent(id)}`}${query === '' ? '' : `?${query}`}`;
}

/** The views by the kinds' names in the audit. */
const viewOfKind: Readonly<Record<string, ViewName>> = {
  flow: 'flows',
  'flow-version': 'flows',
  template: 'templates',
  'template-version': 'templates',
  instance: 'templates',
  'phone-number': 'phone-numbers',
  'agent-profile': 'agent-profiles',
  customer: 'customers',
  organization: 'customers',
  key: 'keys',
  projection: 'projections',
  process: 'projections',
  webhook: 'webhooks',
  'webhook-endpoint': 'webhooks',
  project: 'projects',
  store: 'stores',
  file: 'files',
  batch: 'batches',
};

/** The number of characters that a version's id adds to its flow's. */
const versionSuffix = 8;

export function addressOfResource(kind: string, id: string): string | null {
  const view = viewOfKind[kind];
  if (view === undefined) return null;
  if (kind === 'flow') return addressOf('flows', id);
  if (kind === 'flow-version') return addressOf('flows', id.slice(0, -versionSuffix), { version: id });
  if (kind === 'template') return addressOf('templates', null, { template: id });
  if (kind === 'template-version') return addressOf('templates', null, { template: id.slice(0, -versionSuffix) });
  if (kind === 'instance') return addressOf('templates', null, { instance: id });
  if (kind === 'customer') return addressOf('customers', id);
  if (kind === 'store') return addressOf('stores', id);
  return addressOf(view);
}
