import { parentId } from '#domain/shared/entity.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { type AgentProfilesState, agentProfiles } from './agent-profile.ts';

/**
 * Why a flow cannot take an agent profile: it is unknown, deleted, or another project's. Null when it can.
 * @param profiles the profiles of the project that the id names
 */
export function checkAssignable(profiles: AgentProfilesState | null, id: string, projectId: string): Failure | null {
  const isThere = profiles !== null && agentProfiles.isLive(profiles, id);
  if (isThere && parentId(id) === projectId) return null;
  return failure('agent-profile-not-found', `There is no agent profile ${id} in this project.`);
}
