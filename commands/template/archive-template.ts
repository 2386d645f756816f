import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { newEvent } from '#domain/shared/event.ts';
import { TemplateRecord } from '#domain/template/record.ts';
import { knownTemplate, template, templateRecord } from '#domain/template/template.ts';

export const archiveTemplate = command({
  about: {
    name: 'archive_template',
    summary: 'Archive a template',
    description:
      'An archived template gets no new versions, publications or instances; existing instances stay. This cannot be ' +
      'undone. A repetition changes nothing.',
    group: 'Templates',
    effect: { isDestructive: true, isIdempotent: true },
    example: { output: { ...TemplateRecord.example, status: 'archived' } },
  },
  http: post('/v1/templates/:templateId/archive'),
  access: { scope: 'templates:write', subject: { entity: template, parameter: 'templateId' } },
  input: t.type({ templateId: cuid }),
  output: TemplateRecord,
  failures: ['template-not-found'],
  entity: template,
  decide: ({ templateId: id }, state) =>
    E.right(knownTemplate(state).record.status === 'archived' ? [] : [newEvent('TemplateArchived', { id })]),
  answer: ({ state, dataAt }) => templateRecord(state, dataAt),
});
