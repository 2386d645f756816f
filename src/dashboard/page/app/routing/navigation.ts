import type { Me } from '#dashboard/page/api/records.ts';
import type { ViewName } from '#dashboard/page/app/routing/router.ts';

export interface Entry {
  readonly view: ViewName;
  readonly title: string;
  /** The letter of the shortcut, after `g`. */
  readonly letter: string | null;
}

export interface EntryGroup {
  /** Null for a group that needs no name. */
  readonly title: string | null;
  readonly entries: ReadonlyArray<Entry>;
}

const groups: ReadonlyArray<EntryGroup> = [
  {
    title: null,
    entries: [
      { view: 'overview', title: 'Overview', letter: 'o' },
      { view: 'flows', title: 'Flows', letter: 'f' },
      { view: 'templates', title: 'Templates', letter: 't' },
    ],
  },
  {
    title: null,
    entries: [
      { view: 'gateway', title: 'Gateway', letter: 'w' },
      { view: 'calls', title: 'Calls', letter: 'c' },
      { view: 'models', title: 'Models', letter: 'm' },
      { view: 'files', title: 'Files', letter: null },
      { view: 'batches', title: 'Batches', letter: 'b' },
      { view: 'stores', title: 'Stores', letter: null },
      { view: 'responses', title: 'Conversations', letter: null },
    ],
  },
  {
    title: null,
    entries: [
      { view: 'phone-numbers', title: 'Phone numbers', letter: null },
      { view: 'agent-profiles', title: 'Agent profiles', letter: null },
      { view: 'customers', title: 'Customers', letter: null },
    ],
  },
  {
    title: null,
    entries: [
      { view: 'audit', title: 'Audit', letter: 'a' },
      { view: 'projects', title: 'Projects', letter: null },
      { view: 'keys', title: 'Keys', letter: 'k' },
      { view: 'webhooks', title: 'Webhooks', letter: null },
    ],
  },
  { title: 'System', entries: [{ view: 'projections', title: 'Read models', letter: 'r' }] },
];

const ofOperator: ReadonlySet<ViewName> = new Set(['projections']);
const ofPartner: ReadonlySet<ViewName> = new Set(['customers']);

/** The views that the key may use, in groups. */
export function navigationOf({ keyType }: Me): ReadonlyArray<EntryGroup> {
  const isAdmin = keyType === 'admin';
  const isPartner = isAdmin || keyType === 'partner';
  return groups
    .map(({ title, entries }) => ({
      title,
      entries: entries.filter(({ view }) => (isAdmin || !ofOperator.has(view)) && (isPartner || !ofPartner.has(view))),
    }))
    .filter(({ entries }) => entries.length > 0);
}

/** The views that the key may use, in one list. */
export function entriesOf(me: Me): ReadonlyArray<Entry> {
  return navigationOf(me).flatMap(({ entries }) => entries);
}

export function titleOf(view: ViewName): string {
  return groups.flatMap(({ entries }) => entries).find((entry) => entry.view === view)?.title ?? 'Overview';
}

/** The views at the bottom of a narrow screen. */
export const shortNavigation: ReadonlyArray<ViewName> = ['overview', 'flows', 'templates', 'gateway'];
