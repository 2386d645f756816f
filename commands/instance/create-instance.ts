import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { FieldValues, fillFields } from '#domain/instance/field-values.ts';
import { instance, instanceRecord } from '#domain/instance/instance.ts';
import { InstanceRecord } from '#domain/instance/record.ts';
import { checkPublished } from '#domain/instance/upgradable.ts';
import { project } from '#domain/project/project.ts';
import { ProjectRecord } from '#domain/project/record.ts';
import { canAccess, notFound } from '#domain/shared/access.ts';
import { newEvent } from '#domain/shared/event.ts';
import { TemplateVersionRecord } from '#domain/template/record.ts';
import { archived } from '#domain/template/template.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { text } from '#shared/codecs/text.ts';
import { filledFaults } from './shared/filled-limit.ts';
import { newTarget } from './shared/new-target.ts';
import { loadAccessibleVersion, versionNotFound } from './shared/wanted-version.ts';

export const createInstance = command({
  about: {
    name: 'create_instance',
    summary: 'Create an instance of a template in a project',
    description:
      'The request answers at once. The flows, the agent profile and the stores are created later: `operation` shows the ' +
      'progress, and `status` becomes active, or failed with a reason in `lastOperation`.',
    group: 'Instances',
    example: {
      input: {
        templateVersionId: TemplateVersionRecord.example.id,
        projectId: ProjectRecord.example.id,
        name: InstanceRecord.example.name,
        fieldValues: { practice_name: 'Dr. Weber' },
      },
      output: InstanceRecord.example,
    },
  },
  http: post('/v1/instances', 201),
  access: { scope: 'instances:write', subject: null },
  input: t.intersection([
    t.type({ templateVersionId: cuid, projectId: cuid, name: text({ min: 1, max: 200 }) }),
    t.partial({ fieldValues: FieldValues }),
  ]),
  output: InstanceRecord,
  failures: ['template-version-not-found', 'project-not-found', 'template-archived', 'template-version-not-published'],
  entity: instance,
  loadRelated: async ({ templateVersionId, projectId }, loads, caller) => ({
    wanted: await loadAccessibleVersion(templateVersionId, loads, caller),
    project: await loads.load(project, projectId),
  }),
  creates: {
    id: (_, newIds) => newIds.id,
    isIdUsed: (state) => state !== null,
    tenant: (_, { related }) => related.project.tenant ?? { organizationId: '', projectId: null, partnerId: null },
  },
  decide: (
    { templateVersionId, projectId, name, fieldValues = {} },
    _,
    { related, caller, newIds: { id }, maxFilledBytes },
  ) => {
    const { wanted } = related;
    const { state: place, tenant } = related.project;
    if (wanted === null) return E.left(versionNotFound(templateVersionId));
    if (place === null || tenant === null || !canAccess(caller, tenant)) {
      return E.left(notFound('project-not-found', projectId));
    }
    if (wanted.template.status === 'archived') return E.left(archived);
    const refusal = checkPublished(wanted.version);
    if (refusal !== null) return E.left(refusal);
    const fields = fillFields(wanted.version.fieldsSchema, fieldValues, {}, '/fieldValues');
    if ('faults' in fields) return E.left(invalidInput(fields.faults));
    const faults = filledFaults(wanted.version, fields.values, '/fieldValues', maxFilledBytes);
    if (faults.length > 0) return E.left(invalidInput(faults));
    const planning = { instanceId: id, projectId, operation: 1, had: null, isThere: () => false };
    const target = newTarget(wanted.version, fields.values, planning);
    const { organizationId } = place;
    return E.right([
      newEvent('InstanceCreated', { id, projectId, organizationId, templateId: wanted.template.id, name, ...target }),
    ]);
  },
  answer: ({ state }) => instanceRecord(state),
});
