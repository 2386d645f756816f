import { AgentProfileRecord } from '#domain/agent-profile/record.ts';
import { examples } from '#domain/shared/examples.ts';
import { agentProfiles } from '#projections/agent-profiles.ts';
import { getById } from '#queries/shared/get-by-id.ts';

export const getAgentProfile = getById({
  name: 'get_agent_profile',
  summary: 'Read an agent profile',
  group: 'Agent profiles',
  path: '/v1/agent-profiles/:agentProfileId',
  scope: 'agent-profiles:read',
  parameter: 'agentProfileId',
  record: AgentProfileRecord,
  notFound: 'agent-profile-not-found',
  example: examples.agentProfile,
  collection: agentProfiles,
});
