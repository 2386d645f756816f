import { templateHistory } from '#domain/template/history.ts';
import { TemplateRecord } from '#domain/template/record.ts';
import { template } from '#domain/template/template.ts';
import { templates } from '#projections/templates.ts';
import { getById } from '#queries/shared/get-by-id.ts';

export const getTemplate = getById({
  name: 'get_template',
  summary: 'Read a template',
  group: 'Templates',
  path: '/v1/templates/:templateId',
  scope: 'templates:read',
  parameter: 'templateId',
  record: TemplateRecord,
  notFound: 'template-not-found',
  example: TemplateRecord.example,
  collection: templates,
  past: { history: templateHistory, entity: template, kind: 'template' },
});
