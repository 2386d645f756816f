import { templateHistory } from '#domain/template/history.ts';
import { getHistory } from '#queries/shared/get-history.ts';

export const getTemplateHistory = getHistory({
  name: 'get_template_history',
  summary: 'Read the history of a template and its versions',
  group: 'Templates',
  path: '/v1/templates/:templateId/history',
  scope: 'templates:read',
  parameter: 'templateId',
  notFound: 'template-not-found',
  history: templateHistory,
});
