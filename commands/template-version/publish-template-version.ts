import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { parentId } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import { TemplateVersionRecord } from '#domain/template/record.ts';
import { archived, templateVersion, templateVersionRecord } from '#domain/template/template.ts';

export const publishTemplateVersion = command({
  about: {
    name: 'publish_template_version',
    summary: 'Publish a version of a template',
    description:
      'Instances can be created from it from then on. The first published version also publishes the template. ' +
      'A repetition changes nothing.',
    group: 'Template versions',
    effect: { isIdempotent: true },
    example: { output: { ...TemplateVersionRecord.example, publishedAt: TemplateVersionRecord.example.updatedAt } },
  },
  http: post('/v1/template-versions/:versionId/publish'),
  access: { scope: 'templates:write', subject: { entity: templateVersion, parameter: 'versionId' } },
  input: t.type({ versionId: cuid }),
  output: TemplateVersionRecord,
  failures: ['template-version-not-found', 'template-archived'],
  entity: templateVersion,
  decide: ({ versionId: id }, state) => {
    if (state?.record.status === 'archived') return E.left(archived);
    if (state?.versions.get(id)?.publishedAt) return E.right([]);
    return E.right([newEvent('TemplateVersionPublished', { id, templateId: parentId(id) })]);
  },
  answer: ({ input, state, dataAt }) => templateVersionRecord(state, input.versionId, dataAt),
});
