import { ProjectRecord } from '#domain/project/record.ts';
import { projects } from '#projections/access/projects.ts';
import { listAccessible } from '#queries/shared/list-accessible.ts';
import { nameFilter } from '#queries/shared/list-filters.ts';

export const listProjects = listAccessible({
  name: 'list_projects',
  summary: 'List the projects that the key has access to',
  group: 'Projects',
  path: '/v1/projects',
  scope: 'projects:read',
  member: 'projects',
  record: ProjectRecord,
  example: ProjectRecord.example,
  collection: projects,
  filters: { name: nameFilter },
});
