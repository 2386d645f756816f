import { projectHistory } from '#domain/project/history.ts';
import { getHistory } from '#queries/shared/get-history.ts';

export const getProjectHistory = getHistory({
  name: 'get_project_history',
  summary: 'Read the history of a project',
  group: 'Projects',
  path: '/v1/projects/:projectId/history',
  scope: 'projects:read',
  parameter: 'projectId',
  notFound: 'project-not-found',
  history: projectHistory,
});
