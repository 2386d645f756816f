import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { newEvent } from '#domain/shared/event.ts';
import { TemplateRecord } from '#domain/template/record.ts';
import { template, templateRecord } from '#domain/template/template.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

export const createTemplate = command({
  about: {
    name: 'create_template',
    summary: 'Create a template',
    description: "The template belongs to the key's organization. It is a draft until its first version is published.",
    group: 'Templates',
    example: {
      input: { name: 'Dental practice', description: 'Front desk of a practice' },
      output: TemplateRecord.example,
    },
  },
  http: post('/v1/templates', 201),
  access: { scope: 'templates:write', subject: null },
  input: t.intersection([
    t.type({ name: text({ min: 1, max: 200 }) }),
    t.partial({ description: nullable(text({ max: 2000 })) }),
  ]),
  output: TemplateRecord,
  failures: [],
  entity: template,
  creates: {
    id: (_, newIds) => newIds.id,
    isIdUsed: (state) => state !== null, // Only its own organization has access: not a partner of which that organization is a customer.
    tenant: (_, { caller: { organizationId } }) => ({ organizationId, projectId: null, partnerId: organizationId }),
  },
  decide: ({ name, description = null }, _, { caller, newIds: { id } }) =>
    E.right([newEvent('TemplateCreated', { id, headlessIntegratorId: caller.organizationId, name, description })]),
  answer: ({ state, dataAt }) => templateRecord(state, dataAt),
});
