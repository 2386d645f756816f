import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { patch } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { newEvent } from '#domain/shared/event.ts';
import { refersTo } from '#domain/shared/text-reference.ts';
import { TemplateRecord } from '#domain/template/record.ts';
import { knownTemplate, template, templateRecord } from '#domain/template/template.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

export const updateTemplate = command({
  about: {
    name: 'update_template',
    summary: 'Change a template',
    description: 'Absent members do not change; null clears a description.',
    group: 'Templates',
    example: { input: { name: 'Dental practice' }, output: TemplateRecord.example },
  },
  http: patch('/v1/templates/:templateId'),
  access: { scope: 'templates:write', subject: { entity: template, parameter: 'templateId' } },
  input: t.intersection([
    t.type({ templateId: cuid }),
    t.partial({ name: text({ min: 1, max: 200 }), description: nullable(text({ max: 2000 })) }),
  ]),
  output: TemplateRecord,
  failures: ['template-not-found'],
  entity: template,
  decide: ({ templateId: id, name, description }, state) => {
    const before = knownTemplate(state).record;
    return E.right([
      ...(name === undefined || refersTo(before.name, name) ? [] : [newEvent('TemplateRenamed', { id, name })]),
      ...(description === undefined || refersTo(before.description, description)
        ? []
        : [newEvent('TemplateDescribed', { id, description })]),
    ]);
  },
  answer: ({ state, dataAt }) => templateRecord(state, dataAt),
});
