import { agentProfileHistory } from '#domain/agent-profile/history.ts';
import { getHistory } from '#queries/shared/get-history.ts';

export const getAgentProfileHistory = getHistory({
  name: 'get_agent_profile_history',
  summary: 'Read the history of an agent profile',
  group: 'Agent profiles',
  oneOf: 'agent-profile',
  path: '/v1/agent-profiles/:agentProfileId/history',
  scope: 'agent-profiles:read',
  parameter: 'agentProfileId',
  notFound: 'agent-profile-not-found',
  history: agentProfileHistory,
});
