import { templateHistory } from '#domain/template/history.ts';
import { TemplateVersionRecord } from '#domain/template/record.ts';
import { templateVersion } from '#domain/template/template.ts';
import { type TemplateVersionDocument, templateVersions } from '#projections/template-versions.ts';
import { templates } from '#projections/templates.ts';
import { getVersion } from '#queries/shared/get-version.ts';

export const getTemplateVersion = getVersion<TemplateVersionDocument, TemplateVersionRecord>({
  name: 'get_template_version',
  summary: 'Read a template version',
  group: 'Template versions',
  path: '/v1/template-versions/:versionId',
  scope: 'templates:read',
  record: TemplateVersionRecord,
  notFound: 'template-version-not-found',
  example: TemplateVersionRecord.example,
  collection: templateVersions,
  of: { collection: templates, id: ({ templateId }) => templateId },
  past: { history: templateHistory, entity: templateVersion, kind: 'template-version' },
});
