import { cuid } from '#domain/codecs/id.ts';
import { FlowRecord } from '#domain/flow/record.ts';
import { projects } from '#projections/access/projects.ts';
import { flows } from '#projections/flows.ts';
import { listByParent } from '#queries/shared/list-by-parent.ts';
import { nameFilter } from '#queries/shared/list-filters.ts';

export const listFlows = listByParent({
  name: 'list_flows',
  summary: "List a project's flows",
  group: 'Flows',
  path: '/v1/projects/:projectId/flows',
  scope: 'flows:read',
  owner: { collection: projects, parameter: 'projectId', notFound: 'project-not-found' },
  member: 'flows',
  record: FlowRecord,
  example: FlowRecord.example,
  collection: flows,
  filters: { name: nameFilter, agentProfileId: cuid },
});
