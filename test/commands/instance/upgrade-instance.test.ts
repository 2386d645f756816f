import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import type { PresentResources } from '#commands/instance/shared/present-resources.ts';
import type { WantedVersion } from '#commands/instance/shared/wanted-version.ts';
import { upgradeInstance } from '#commands/instance/upgrade-instance.ts';
import { holdSame } from '#domain/instance/drift.ts';
import type { InstanceTarget } from '#domain/instance/events.ts';
import { instance } from '#domain/instance/instance.ts';
import { newEvent } from '#domain/shared/event.ts';
import { defaultMaxFilledBytes } from '#domain/template/filled-size.ts';
import type { FieldsSchema } from '#domain/template/payload.ts';
import {
  activeInstance,
  committed,
  ended,
  instanceCreated,
  operationFailed,
  progressed,
  targetOf,
  templateContents,
  upgradeRequested,
  wantedVersion,
} from '#test/support/events/instance-events.ts';
import { templateVersionOf } from '#test/support/events/template-events.ts';
import { callerOf, ids, newIds, tenants } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { decidedAt, givenHistory, secretKey } from '#test/support/harness/command-harness.ts';
import { type ExampleEvent, stateOf } from '#test/support/harness/recorded-events.ts';

const versionOf = (number: number) => templateVersionOf(ids.template, number);
const input = { instanceId: ids.instance, targetTemplateVersionId: versionOf(2) };

/** All resources as they were provisioned, except for the given changes. */
function present(
  { resources }: InstanceTarget = targetOf(1),
  change: { gone?: ReadonlyArray<string>; name?: string; active?: string; profile?: string | null; desk?: string } = {},
): PresentResources {
  const { gone = [], name, active, profile, desk } = change;
  const { agentProfile } = resources;
  const seenProfile = agentProfile && { ...agentProfile, name: desk ?? agentProfile.name };
  return {
    isThere: (id) => !gone.includes(id),
    flow: (id) => {
      const flow = resources.flows.find((each) => each.id === id);
      if (flow === undefined || gone.includes(id)) return null;
      const agentProfileId = profile === undefined ? (resources.agentProfile?.id ?? null) : profile;
      const isNamed = (wanted: string) => wanted === (name ?? flow.name);
      return { isNamed, activeVersionId: active ?? flow.versionId, agentProfileId };
    },
    agentProfile: seenProfile && { holds: (contents) => holdSame(contents, seenProfile) },
  };
}

const context = (wanted: WantedVersion | null = wantedVersion(2), seen = present()) => ({
  caller: callerOf('partner'),
  related: { wanted, present: seen },
});

/** The field values that an upgrade records, or the errors of the given ones. */
function values(fieldsSchema: FieldsSchema, had: Record<string, string>, newFieldValues: Record<string, string> = {}) {
  const history = [instanceCreated({ fieldValues: had }), progressed(1, 4), committed(1), ended(1)];
  const decided = upgradeInstance.decide({ ...input, newFieldValues }, stateOf(instance, ...history), {
    ...context(wantedVersion(2, { fieldsSchema })),
    newIds,
    newSecrets: { apiKey: secretKey, webhookSecret: '' },
    subject: { state: null, tenant: tenants.project },
    time: decidedAt,
    maxFilledBytes: defaultMaxFilledBytes,
  });
  if (E.isLeft(decided)) return decided.left.errors?.map(({ pointer, message }) => `${pointer} ${message}`);
  const [event] = decided.right;
  return event?.type === 'InstanceUpgradeRequested' ? event.data.fieldValues : event;
}

const requested = (operation: number, target: InstanceTarget) =>
  newEvent('InstanceUpgradeRequested', { id: ids.instance, operation, ...target });

describe('upgrade_instance', () => {
  it('records the target of an upgrade, in which kept flows keep their ids and get new versions', () => {
    const target = targetOf(2, {}, targetOf(1));
    assert.deepEqual(
      target.resources.flows.map(({ id }) => id),
      targetOf(1).resources.flows.map(({ id }) => id),
    );
    assert.notEqual(target.resources.flows[0]?.versionId, targetOf(1).resources.flows[0]?.versionId);
    givenHistory(...activeInstance())
      .when(upgradeInstance, input, context())
      .then(requested(2, target));
  });

  it('plans resources again that were deleted manually', () => {
    const [first, second] = targetOf(1).resources.flows;
    const had = targetOf(1);
    const target = targetOf(2, {}, { ...had, resources: { ...had.resources, flows: second ? [second] : [] } });
    assert.notEqual(target.resources.flows[0]?.id, first?.id);
    givenHistory(...activeInstance())
      .when(upgradeInstance, input, context(undefined, present(had, { gone: [first?.id ?? ''] })))
      .then(requested(2, target));
  });

  it('refuses an upgrade to a version that is unknown, of another template, unpublished or not newer', () => {
    const when = (wanted: WantedVersion | null, ...more: ReadonlyArray<ExampleEvent>) =>
      givenHistory(...activeInstance(), ...more).when(upgradeInstance, input, context(wanted));
    when(null).then('template-version-not-found');
    when(wantedVersion(2, { templateId: 'ctemplatetwo0001' })).then('template-version-of-another-template');
    when(wantedVersion(2, { published: false })).then('template-version-not-published');
    when(wantedVersion(1)).then('template-version-not-newer');
    when(wantedVersion(2), upgradeRequested(2)).then('template-version-not-newer');
  });

  it('upgrades to a version of an archived template, and again to one whose upgrade was undone', () => {
    const had = targetOf(1);
    givenHistory(...activeInstance())
      .when(upgradeInstance, input, context(wantedVersion(2, { archived: true })))
      .then(requested(2, targetOf(2, {}, had)));
    const undone = [upgradeRequested(2, targetOf(2, {}, had)), operationFailed(2), ended(2, 'undone')];
    const target = targetOf(3, { templateVersion: 2, templateVersionId: versionOf(2) }, had);
    givenHistory(...activeInstance(), ...undone)
      .when(upgradeInstance, input, context())
      .then(requested(3, target));
  });

  it('supersedes a running upgrade, based on the last operation past its commit point', () => {
    const had = targetOf(1);
    givenHistory(...activeInstance(), upgradeRequested(2, targetOf(2, {}, had)), progressed(2, 1))
      .when(upgradeInstance, { ...input, targetTemplateVersionId: versionOf(3) }, context(wantedVersion(3)))
      .then(requested(3, targetOf(3, {}, had)));
    givenHistory(instanceCreated())
      .when(upgradeInstance, input, context(undefined, present(targetOf(1), { gone: [] })))
      .then(requested(2, targetOf(2)));
  });

  it('combines old field values that still fit, new values and defaults', () => {
    const text = (key: string, more: object = {}) => ({
      key,
      label: key,
      type: 'string' as const,
      required: false,
      ...more,
    });
    const number = (key: string, more: object = {}) => ({ ...text(key, more), type: 'number' as const });
    const had = { name: 'Weber', limit: '10', gone: 'x' };
    assert.deepEqual(values(templateContents.fieldsSchema, had), { name: 'Weber', limit: '10' });
    assert.deepEqual(
      values([text('name'), text('more', { defaultValue: 'd' }), text('unset')], had, { name: 'Meier' }),
      {
        name: 'Meier',
        more: 'd',
      },
    );
    assert.deepEqual(values([text('limit', { defaultValue: '99' })], had), { limit: '10' });
    assert.deepEqual(values([number('name', { defaultValue: '1' })], had), { name: '1' });
    assert.deepEqual(values([number('name')], had), {});
    assert.deepEqual(values([number('name', { required: true }), text('more', { required: true })], had, { no: '' }), [
      '/newFieldValues/no is not a field of this template version',
      '/newFieldValues/name is required',
      '/newFieldValues/more is required',
    ]);
    assert.deepEqual(values([number('limit')], had, { limit: 'x' }), [
      '/newFieldValues/limit must be a number as JSON writes it',
    ]);
  });

  describe('upgrade_instance with onDrift=reject', () => {
    const reject = { ...input, onDrift: 'reject' };
    const had = targetOf(1);
    const when = (change: Parameters<typeof present>[1], more: object = reject) =>
      givenHistory(...activeInstance()).when(upgradeInstance, more as never, context(undefined, present(had, change)));

    it('upgrades an instance that nobody has changed when drift is rejected', () => {
      when({}).then(requested(2, targetOf(2, {}, had)));
    });

    const changes = [
      ['was deleted', { gone: [had.resources.flows[0]?.id ?? ''] }],
      ['was renamed', { name: 'Ours' }],
      ['has another version active', { active: 'another' }],
      ['has another agent profile', { profile: ids.otherProfile }],
      ['has none any more', { profile: null }],
      ['has a profile that was replaced', { desk: 'Ours' }],
    ] as const;
    for (const [what, change] of changes) {
      it(`refuses an upgrade when a flow ${what} and drift is rejected, and accepts it by default`, () => {
        when(change).then('instance-drifted');
        if (what !== 'was deleted') when(change, input).then(requested(2, targetOf(2, {}, had)));
      });
    }

    it('does not take the changes of the superseded operation for drift', () => {
      const target = targetOf(2, {}, had);
      const switched = present(target);
      const wanted = { ...reject, targetTemplateVersionId: versionOf(3) };
      givenHistory(...activeInstance(), upgradeRequested(2, target), progressed(2, 4))
        .when(upgradeInstance, wanted, context(wantedVersion(3), switched))
        .then(requested(3, targetOf(3, {}, had)));
    });
  });

  describe('input of upgrade_instance', () => {
    const of = inputOf(upgradeInstance, input);
    of.id('targetTemplateVersionId');
    of.required('targetTemplateVersionId');
    of.optional('newFieldValues', undefined);
    of.accepts('newFieldValues', {});
    of.refuses('newFieldValues', { a: null });
    of.choice('onDrift', ['replace', 'reject']);
    of.optional('onDrift', 'replace');
    of.ignoresUnknown();
  });
});
