import type { TemplateVersionRecord } from '#domain/template/record.ts';
import { templateVersions } from '#projections/template-versions.ts';
import { diffVersions } from '#queries/shared/diff-versions.ts';

export const diffTemplateVersions = diffVersions<TemplateVersionRecord>({
  name: 'diff_template_versions',
  summary: 'Compare two template versions',
  description:
    'A JSON Patch from payload and fieldsSchema of the first version to those of the second, empty if they are equal, ' +
    'and a summary in words, which names the changed fields, flows and other parts by their keys.',
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
