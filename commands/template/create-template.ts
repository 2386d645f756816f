import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { nullable, text } from '#domain/codecs/codecs.ts';
import { newEvent } from '#domain/shared/event.ts';
import { examples } from '#domain/shared/examples.ts';
import { templateRecord } from '#domain/template/answer.ts';
import { TemplateRecord } from '#domain/template/record.ts';
import { template } from '#domain/template/template.ts';

export const createTemplate = command({
  name: 'create_template',
  summary: 'Create a template',
  description: "It belongs to the key's organization, and is a draft until its first version is published.",
  group: 'Templates',
  http: post('/v1/templates', 201),
  scope: 'templates:write',
  input: t.intersection([
    t.type({ name: text({ min: 1, max: 200 }) }),
    t.partial({ description: nullable(text({ max: 2000 })) }),
  ]),
  output: TemplateRecord,
  failures: [],
  example: { input: { name: 'Dental practice', description: 'Front desk of a practice' }, output: examples.template },
  entity: template,
  subject: null,
  newId: (_, fresh) => fresh.id,
  isIdUsed: (state) => state !== null,
  // Its own organization's and nobody else's: whoever owns that organization as its customer does not reach it.
  tenant: (_, { caller: { organizationId } }) => ({ organizationId, projectId: null, partnerId: organizationId }),
  decide: ({ name, description = null }, _, { caller, fresh: { id } }) =>
    E.right([newEvent('TemplateCreated', { id, headlessIntegratorId: caller.organizationId, name, description })]),
  answer: ({ state, dataAt }) => templateRecord(state, dataAt),
});
