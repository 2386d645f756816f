import type { TemplateVersionRecord } from '#domain/template/record.ts';
import { templateVersions } from '#projections/template-versions.ts';
import { diffVersions } from '#queries/shared/diff-versions.ts';

export const diffTemplateVersions = diffVersions<TemplateVersionRecord>({
  name: 'diff_template_versions',
  summary: 'Compare two template versions',
  description:
    'A JSON Patch from payload and fieldsSchema of the first to those of the second, none for equal ones, and what ' +
    'differs in words: fields, flows and other parts by their keys.',
  group: 'Template versions',
  path: '/v1/template-versions/:versionId/diff/:otherVersionId',
  scope: 'templates:read',
  notFound: 'template-version-not-found',
  collection: templateVersions,
  example: {
    patch: [{ op: 'replace', path: '/fieldsSchema/0/label', value: 'Name of the clinic' }],
    summary: 'Fields changed: practice_name.',
  },
  kind: 'template-version',
});
