import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { createInstance } from '#commands/instance/create-instance.ts';
import type { WantedVersion } from '#commands/instance/shared/wanted-version.ts';
import { planResources } from '#domain/instance/plan-resources.ts';
import { project } from '#domain/project/project.ts';
import { newEvent } from '#domain/shared/event.ts';
import { defaultMaxFilledBytes } from '#domain/template/filled-size.ts';
import type { FieldsSchema } from '#domain/template/payload.ts';
import { templateContents, wantedVersion } from '#test/support/events/instance-events.ts';
import { templateVersionOf } from '#test/support/events/template-events.ts';
import { projectCreated } from '#test/support/events/tenant-events.ts';
import { callerOf, ids, newIds, tenants } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';
import { stateOf } from '#test/support/harness/recorded-events.ts';

const input = { templateVersionId: templateVersionOf(ids.template, 1), projectId: ids.customerProject, name: 'Weber' };
const fieldValues = { name: 'Dr. Weber' };
const place = {
  state: stateOf(project, projectCreated(ids.customerProject, ids.customer)),
  tenant: tenants.customer,
};
const context = (wanted: WantedVersion | null = wantedVersion(), caller = callerOf('partner')) => ({
  caller,
  related: { wanted, project: place },
});

/** The errors of the field values as `pointer message`. */
function faults(fieldsSchema: FieldsSchema, values: Record<string, string>) {
  const { related, caller } = context(wantedVersion(1, { fieldsSchema }));
  const decided = createInstance.decide({ ...input, fieldValues: values }, null, {
    caller,
    related,
    newIds,
    newSecrets: { apiKey: '', webhookSecret: '' },
    subject: { state: null, tenant: null },
    time: '',
    maxFilledBytes: defaultMaxFilledBytes,
  });
  return E.isLeft(decided)
    ? decided.left.errors?.map(({ pointer, message }) => `${pointer} ${message}`)
    : decided.right;
}

describe('create_instance', () => {
  it('records the planned resources of an instance, with defaults among the field values', () => {
    const planning = {
      instanceId: newIds.id,
      projectId: ids.customerProject,
      operation: 1,
      had: null,
      isThere: () => false,
    };
    givenHistory()
      .when(createInstance, { ...input, fieldValues }, context())
      .then(
        newEvent('InstanceCreated', {
          id: newIds.id,
          projectId: ids.customerProject,
          organizationId: ids.customer,
          templateId: ids.template,
          name: 'Weber',
          templateVersionId: input.templateVersionId,
          templateVersion: 1,
          fieldValues: { name: 'Dr. Weber', limit: '10' },
          phoneNumberRequirements: [{ key: 'main', label: 'Main line' }],
          resources: planResources(templateContents.payload, planning),
        }),
      );
  });

  it('puts an instance under the project’s organization and that organization’s partner', () => {
    assert.deepEqual(createInstance.creates?.tenant?.(input, context() as never), tenants.customer);
  });

  it('refuses a template version that is unknown, unpublished or archived', () => {
    const when = (wanted: WantedVersion | null) =>
      givenHistory().when(createInstance, { ...input, fieldValues }, context(wanted));
    when(null).then('template-version-not-found');
    when(wantedVersion(1, { published: false })).then('template-version-not-published');
    when(wantedVersion(1, { archived: true })).then('template-archived');
  });

  it('refuses a project that is unknown or that the key cannot access', () => {
    const unknown = { wanted: wantedVersion(), project: { state: null, tenant: null } };
    givenHistory()
      .when(createInstance, input, { ...context(), related: unknown })
      .then('project-not-found');
    const foreign = { wanted: wantedVersion(), project: { state: place.state, tenant: tenants.stranger } };
    givenHistory()
      .when(createInstance, input, { ...context(), related: foreign })
      .then('project-not-found');
  });

  it('lists every invalid field value with its JSON pointer', () => {
    const { fieldsSchema } = templateContents;
    assert.deepEqual(faults(fieldsSchema, {}), ['/fieldValues/name is required']);
    assert.deepEqual(faults(fieldsSchema, { limit: 'ten', other: '1', 'a/~b': '' }), [
      '/fieldValues/other is not a field of this template version',
      '/fieldValues/a~1~0b is not a field of this template version',
      '/fieldValues/name is required',
      '/fieldValues/limit must be a number as JSON writes it',
    ]);
    const flag = { key: 'on', label: 'On', type: 'boolean' as const, required: true };
    assert.deepEqual(faults([flag], { on: 'yes' }), ['/fieldValues/on must be "true" or "false"']);
  });

  it('never takes an inherited member for a field value', () => {
    const required = (key: string) => ({ key, label: key, type: 'string' as const, required: true });
    assert.deepEqual(faults([required('constructor'), required('__proto__')], {}), [
      '/fieldValues/constructor is required',
      '/fieldValues/__proto__ is required',
    ]);
  });

  describe('input of create_instance', () => {
    const of = inputOf(createInstance, input);
    of.id('templateVersionId');
    of.required('templateVersionId');
    of.id('projectId');
    of.required('projectId');
    of.text('name', { min: 1, max: 200 });
    of.required('name');
    of.optional('fieldValues', undefined);
    of.accepts('fieldValues', { a: '', b: 'x' });
    of.accepts('fieldValues', JSON.parse('{"__proto__":"x"}'));
    of.refuses('fieldValues', { a: 1 });
    of.refuses('fieldValues', ['a']);
    of.refuses('fieldValues', null);
    of.refuses('fieldValues', 'a');
    of.ignoresUnknown();
  });
});
