import { AgentProfileRecord } from '#domain/agent-profile/record.ts';
import { projects } from '#projections/access/projects.ts';
import { agentProfiles } from '#projections/agent-profiles.ts';
import { listByParent } from '#queries/shared/list-by-parent.ts';
import { nameFilter } from '#queries/shared/list-filters.ts';

export const listAgentProfiles = listByParent({
  name: 'list_agent_profiles',
  summary: "List a project's agent profiles",
  group: 'Agent profiles',
  path: '/v1/projects/:projectId/agent-profiles',
  scope: 'agent-profiles:read',
  owner: { collection: projects, parameter: 'projectId', notFound: 'project-not-found' },
  member: 'agentProfiles',
  record: AgentProfileRecord,
  example: AgentProfileRecord.example,
  collection: agentProfiles,
  filters: { name: nameFilter },
});
