import { useData } from '#dashboard/page/app/data/use-data.ts';
import type { ViewName } from '#dashboard/page/app/routing/router.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';

/** What the navigation says beside a view: how many there are, or what needs somebody. */
export interface NavCount {
  readonly text: string;
  readonly tone: 'bad' | 'warn' | null;
}

interface Activity {
  readonly counts: Readonly<Record<string, number | null>>;
}

interface Followers {
  readonly projections: ReadonlyArray<{ readonly state: string }>;
  readonly processes: ReadonlyArray<{ readonly state: string }>;
}

interface Targets {
  readonly targets: ReadonlyArray<{ readonly circuit: string }>;
}

const memberOf: Readonly<Partial<Record<ViewName, string>>> = {
  flows: 'flows',
  templates: 'templates',
  'phone-numbers': 'phoneNumbers',
  'agent-profiles': 'agentProfiles',
  customers: 'customers',
  keys: 'keys',
  webhooks: 'webhookEndpoints',
};

const refreshMs = 15_000;

/** The counts of the navigation; views without one are absent. */
export function useNavCounts(): ReadonlyMap<ViewName, NavCount> {
  const { me } = useSession();
  const isAdmin = me.keyType === 'admin';
  const refresh = { kinds: [], everyMs: refreshMs };
  const activity = useData<Activity>('/v1/dashboard/activity?days=1', refresh).value;
  const followers = useData<Followers>(isAdmin ? '/v1/dashboard/projections' : null, refresh).value;
  const targets = useData<Targets>(isAdmin ? '/v1/gateway/targets' : null, refresh).value;
  const found = new Map<ViewName, NavCount>();
  for (const [view, member] of Object.entries(memberOf) as ReadonlyArray<[ViewName, string]>) {
    const count = activity?.counts[member] ?? 0;
    if (count > 0) found.set(view, { text: String(count), tone: null });
  }
  const stopped = [...(followers?.projections ?? []), ...(followers?.processes ?? [])].filter(
    ({ state }) => state === 'stopped',
  );
  if (stopped.length > 0) found.set('projections', { text: `${stopped.length} stopped`, tone: 'bad' });
  const resting = (targets?.targets ?? []).filter(({ circuit }) => circuit === 'open');
  if (resting.length > 0) found.set('gateway', { text: `${resting.length} resting`, tone: 'warn' });
  return found;
}
