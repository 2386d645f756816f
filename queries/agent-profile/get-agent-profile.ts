import { AgentProfileRecord } from '#domain/agent-profile/record.ts';
import { examples } from '#domain/examples.ts';
import { agentProfiles } from '#projections/agent-profiles.ts';
import { oneResource } from '../one-resource.ts';

export const getAgentProfile = oneResource({
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
