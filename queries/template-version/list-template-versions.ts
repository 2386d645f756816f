import { templateHistory } from '#domain/template/history.ts';
import { TemplateVersionRecord } from '#domain/template/record.ts';
import { type TemplateState, template, versionsInOrder } from '#domain/template/template.ts';
import { templateVersions } from '#projections/template-versions.ts';
import { templates } from '#projections/templates.ts';
import { listByParent } from '#queries/shared/list-by-parent.ts';

export const listTemplateVersions = listByParent({
  name: 'list_template_versions',
  summary: "List a template's versions",
  group: 'Template versions',
  path: '/v1/templates/:templateId/versions',
  scope: 'templates:read',
  owner: { collection: templates, parameter: 'templateId', notFound: 'template-not-found' },
  member: 'versions',
  record: TemplateVersionRecord,
  example: TemplateVersionRecord.example,
  collection: templateVersions,
  past: {
    history: templateHistory,
    entity: template,
    items: (state: TemplateState) =>
      versionsInOrder(state).map(({ id, version }) => ({
        number: version,
        resource: { kind: 'template-version', id },
      })),
  },
});
