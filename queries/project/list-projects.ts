import { examples } from '#domain/examples.ts';
import { ProjectRecord } from '#domain/project/record.ts';
import { projects } from '#projections/projects.ts';
import { resourcesWithinReach } from '../resources-within-reach.ts';

export const listProjects = resourcesWithinReach({
  name: 'list_projects',
  summary: 'List the projects that the key reaches',
  group: 'Projects',
  path: '/v1/projects',
  scope: 'projects:read',
  member: 'projects',
  record: ProjectRecord,
  example: examples.project,
  collection: projects,
});
