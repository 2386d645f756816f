import type { Me } from '#dashboard/page/api/records.ts';
import type { ViewName } from '#dashboard/page/app/routing/router.ts';

/** A view in the navigation. */
export interface Entry {
  readonly view: ViewName;
  readonly title: string;
  /** The letter of the shortcut after `g`. */
  readonly letter: string | null;
}

const groups: ReadonlyArray<ReadonlyArray<Entry>> = [
  [
    { view: 'overview', title: 'Overview', letter: 'o' },
    { view: 'flows', title: 'Flows', letter: 'f' },
    { view: 'templates', title: 'Templates', letter: 't' },
    { view: 'gateway', title: 'Gateway', letter: 'w' },
  ],
  [
    { view: 'phone-numbers', title: 'Phone numbers', letter: null },
    { view: 'agent-profiles', title: 'Agent profiles', letter: null },
    { view: 'customers', title: 'Customers', letter: null },
  ],
  [
    { view: 'audit', title: 'Audit', letter: 'a' },
    { view: 'projections', title: 'Projections', letter: 'p' },
    { view: 'keys', title: 'Keys', letter: 'k' },
    { view: 'webhooks', title: 'Webhooks', letter: null },
  ],
];

const ofOperator: ReadonlySet<ViewName> = new Set(['projections']);
const ofPartner: ReadonlySet<ViewName> = new Set(['customers']);

/** Returns the views that a key may use, in groups. */
export function navigationOf({ keyType }: Me): ReadonlyArray<ReadonlyArray<Entry>> {
  const isAdmin = keyType === 'admin';
  const isPartner = isAdmin || keyType === 'partner';
  return groups.map((group) =>
    group.filter(({ view }) => (isAdmin || !ofOperator.has(view)) && (isPartner || !ofPartner.has(view))),
  );
}

/** @returns the title of a view */
export function titleOf(view: ViewName): string {
  return groups.flat().find((entry) => entry.view === view)?.title ?? 'Overview';
}

/** The views of the bar at the bottom of a narrow screen. */
export const shortNavigation: ReadonlyArray<ViewName> = ['overview', 'flows', 'templates', 'gateway'];
