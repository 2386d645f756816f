import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { childId } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import { FieldsSchema, TemplatePayload, undeclaredPlaceholders } from '#domain/template/payload.ts';
import { TemplateVersionRecord } from '#domain/template/record.ts';
import { archived, template, templateVersionRecord } from '#domain/template/template.ts';
import { checked } from '#shared/codecs/checked.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

const Members = t.intersection([
  t.type({ templateId: cuid, payload: TemplatePayload }),
  t.partial({ tag: nullable(text({ max: 100 })), fieldsSchema: FieldsSchema }),
]);

export const createTemplateVersion = command({
  about: {
    name: 'create_template_version',
    summary: 'Add a version to a template',
    description:
      'The version has the next number and is not published yet. Its contents never change. In the strings of a flow ' +
      'schema, the value of a field that fieldsSchema declares replaces `{{fields.key}}`; `\\{{fields.key}}` is plain text.',
    group: 'Template versions',
    example: {
      input: {
        payload: TemplateVersionRecord.example.payload,
        fieldsSchema: TemplateVersionRecord.example.fieldsSchema,
        tag: 'spring',
      },
      output: TemplateVersionRecord.example,
    },
  },
  http: post('/v1/templates/:templateId/versions', 201),
  access: { scope: 'templates:write', subject: { entity: template, parameter: 'templateId' } },
  input: checked(Members, ({ payload, fieldsSchema = [] }) =>
    undeclaredPlaceholders(payload, fieldsSchema).map((fault) => ({ ...fault, path: ['payload', ...fault.path] })),
  ),
  output: TemplateVersionRecord,
  failures: ['template-not-found', 'template-archived'],
  entity: template,
  creates: {
    isIdUsed: (state, { templateId }, { suffix }) => state?.versions.has(childId(templateId, suffix)) === true,
  },
  decide: ({ templateId, payload, fieldsSchema = [], tag = null }, state, { newIds: { suffix } }) => {
    if (state?.record.status === 'archived') return E.left(archived);
    const id = childId(templateId, suffix);
    const version = (state?.versions.size ?? 0) + 1;
    return E.right([newEvent('TemplateVersionCreated', { id, templateId, version, tag, payload, fieldsSchema })]);
  },
  answer: ({ input, state, newIds, dataAt }) =>
    templateVersionRecord(state, childId(input.templateId, newIds.suffix), dataAt),
});
