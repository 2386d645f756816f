import { TemplateRecord, TemplateStatus } from '#domain/template/record.ts';
import { templates } from '#projections/templates.ts';
import { listAccessible } from '#queries/shared/list-accessible.ts';
import { nameFilter } from '#queries/shared/list-filters.ts';

export const listTemplates = listAccessible({
  name: 'list_templates',
  summary: "List the organization's templates",
  description: 'An admin key gets the templates of all organizations.',
  group: 'Templates',
  path: '/v1/templates',
  scope: 'templates:read',
  member: 'templates',
  record: TemplateRecord,
  example: TemplateRecord.example,
  collection: templates,
  filters: { name: nameFilter, status: TemplateStatus },
});
