import { projectHistory } from '#domain/project/history.ts';
import { project } from '#domain/project/project.ts';
import { ProjectRecord } from '#domain/project/record.ts';
import { projects } from '#projections/access/projects.ts';
import { getById } from '#queries/shared/get-by-id.ts';

export const getProject = getById({
  name: 'get_project',
  summary: 'Read a project',
  group: 'Projects',
  path: '/v1/projects/:projectId',
  scope: 'projects:read',
  parameter: 'projectId',
  record: ProjectRecord,
  notFound: 'project-not-found',
  example: ProjectRecord.example,
  collection: projects,
  past: { history: projectHistory, entity: project, kind: 'project' },
});
