import type { RelatedStateLoader } from '#application/commands/command.ts';
import { holdsContents, projectAgentProfiles } from '#domain/agent-profile/agent-profile.ts';
import { flow } from '#domain/flow/flow.ts';
import type { SeenAgentProfile, SeenFlow, SeenResources } from '#domain/instance/drift.ts';
import type { InstanceState } from '#domain/instance/instance.ts';
import { refersTo } from '#domain/shared/text-reference.ts';
import { store } from '#domain/store/store.ts';
import { inTurns } from '#shared/async/in-turns.ts';

/** The instance's resources that its project still has. */
export interface PresentResources extends SeenResources {
  readonly isThere: (id: string) => boolean;
}

/** Reads the resources from their streams. There may be thousands, so other requests are served in between. */
export async function loadPresentResources(
  state: InstanceState,
  { load }: Pick<RelatedStateLoader, 'load'>,
): Promise<PresentResources> {
  const { flows = [], agentProfile = null, stores = [] } = state?.base?.resources ?? {};
  const seenFlows = new Map<string, SeenFlow>();
  const there = new Set<string>();
  for await (const { id } of inTurns(flows)) {
    const { state: now } = await load(flow, id);
    if (now !== null && !now.deleted) {
      const { name, agentProfileId } = now.record;
      const isNamed = (wanted: string) => refersTo(name, wanted);
      seenFlows.set(id, { isNamed, agentProfileId, activeVersionId: now.activeVersionId });
      there.add(id);
    }
  }
  for (const { id } of stores) if (store.isLive((await load(store, id)).state, id)) there.add(id);
  const profile = agentProfile === null ? null : await presentProfile(agentProfile.id, load);
  if (agentProfile !== null && profile !== null) there.add(agentProfile.id);
  return {
    isThere: (id) => there.has(id),
    flow: (id) => seenFlows.get(id) ?? null,
    agentProfile: profile,
  };
}

async function presentProfile(id: string, load: RelatedStateLoader['load']): Promise<SeenAgentProfile | null> {
  const profile = (await load(projectAgentProfiles, id)).state.profiles.get(id);
  if (profile === undefined || profile.deleted) return null;
  return { holds: (contents) => holdsContents(profile, contents) };
}
