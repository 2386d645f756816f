import { useData } from '#dashboard/page/app/data/use-data.ts';
import type { ViewName } from '#dashboard/page/app/routing/router.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';

/** A number next to a view in the navigation: of resources, or of things that need attention. */
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
  readonly targets: ReadonlyArray<{ readonly circuit: string; readonly isKeyRefused: boolean }>;
}

const memberOf: Readonly<Partial<Record<ViewName, string>>> = {
  flows: 'flows',
  templates: 'templates',
  'phone-numbers': 'phoneNumbers',
  'agent-profiles': 'agentProfiles',
  customers: 'customers',
  projects: 'projects',
  files: 'files',
  batches: 'batches',
  stores: 'stores',
  keys: 'keys',
  webhooks: 'webhookEndpoints',
};

const refreshMs = 15_000;

/** Views without a count are absent. */
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
  const open = (targets?.targets ?? []).filter(({ circuit }) => circuit === 'open');
  if (open.length > 0) found.set('gateway', { text: `${open.length} open`, tone: 'warn' });
  const refused = (targets?.targets ?? []).filter(({ isKeyRefused }) => isKeyRefused);
  if (refused.length > 0) found.set('gateway', { text: `${refused.length} refused`, tone: 'bad' });
  return found;
}
