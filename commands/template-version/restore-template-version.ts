import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { childId, parentId } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import type { TemplateEvents } from '#domain/template/events.ts';
import { TemplateRecord, TemplateVersionRecord } from '#domain/template/record.ts';
import { archived, templateVersion, templateVersionRecord } from '#domain/template/template.ts';

type Contents = Pick<TemplateEvents['TemplateVersionCreated'], 'payload' | 'fieldsSchema'>;

export const restoreTemplateVersion = command({
  about: {
    name: 'restore_template_version',
    summary: 'Add a version that is a copy of an earlier one',
    description:
      'The new version has the payload and the fieldsSchema of the version in the path, the next number, no tag and ' +
      '`restoredFrom`. It is not published yet.',
    group: 'Template versions',
    example: {
      output: {
        ...TemplateVersionRecord.example,
        id: `${TemplateRecord.example.id}8k2d6v1z`,
        version: 3,
        tag: null,
        restoredFrom: TemplateVersionRecord.example.id,
      },
    },
  },
  http: post('/v1/template-versions/:versionId/restore', 201),
  access: { scope: 'templates:write', subject: { entity: templateVersion, parameter: 'versionId' } },
  input: t.type({ versionId: cuid }),
  output: TemplateVersionRecord,
  failures: ['template-version-not-found', 'template-archived'],
  entity: templateVersion,
  loadRelated: async ({ versionId }, { dataAt }, _, state): Promise<Contents | null> => {
    const version = state?.versions.get(versionId);
    if (version === undefined) return null;
    return (await dataAt(templateVersion, versionId, version.payloadRevision)) as unknown as Contents;
  },
  creates: {
    isIdUsed: (state, { versionId }, { suffix }) => state?.versions.has(childId(parentId(versionId), suffix)) === true,
  },
  decide: ({ versionId }, state, { related, newIds: { suffix } }) => {
    if (state?.record.status === 'archived') return E.left(archived);
    if (related === null) throw new Error('a version that does not exist is refused before the decision');
    const { payload, fieldsSchema } = related;
    const templateId = parentId(versionId);
    const made = { id: childId(templateId, suffix), templateId, version: (state?.versions.size ?? 0) + 1, tag: null };
    return E.right([newEvent('TemplateVersionCreated', { ...made, payload, fieldsSchema, restoredFrom: versionId })]);
  },
  answer: ({ input, state, newIds, dataAt }) =>
    templateVersionRecord(state, childId(parentId(input.versionId), newIds.suffix), dataAt),
});
