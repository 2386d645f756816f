import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { driftedFlows } from '#domain/instance/drift.ts';
import { FieldValues, fillFields } from '#domain/instance/field-values.ts';
import { type InstanceState, instance, instanceRecord, visibleTarget } from '#domain/instance/instance.ts';
import { InstanceRecord } from '#domain/instance/record.ts';
import { checkUpgradable, upgradeRefusals } from '#domain/instance/upgradable.ts';
import { newEvent } from '#domain/shared/event.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { TemplateVersionRecord } from '#domain/template/record.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { enumeration } from '#shared/codecs/choice.ts';
import { withDefault } from '#shared/codecs/default.ts';
import { filledFaults } from './shared/filled-limit.ts';
import { nextOperation } from './shared/new-target.ts';
import { loadPresentResources, type PresentResources } from './shared/present-resources.ts';
import { loadAccessibleVersion, versionNotFound } from './shared/wanted-version.ts';

export const upgradeInstance = command({
  about: {
    name: 'upgrade_instance',
    summary: 'Upgrade an instance to a newer version of its template',
    description:
      'The request answers at once and supersedes a running operation. The field values are the earlier ones of fields ' +
      'that still exist, the given ones, and defaults. An upgrade that cannot be completed is undone completely; ' +
      '`lastOperation` has the reason. With onDrift=reject, the request is refused if a flow was changed by hand.',
    group: 'Instances',
    effect: { isDestructive: true },
    example: {
      input: { targetTemplateVersionId: TemplateVersionRecord.example.id, newFieldValues: { max_minutes: '15' } },
      output: InstanceRecord.example,
    },
  },
  http: post('/v1/instances/:instanceId/upgrade'),
  access: { scope: 'instances:write', subject: { entity: instance, parameter: 'instanceId' } },
  input: t.intersection([
    t.type({ instanceId: cuid, targetTemplateVersionId: cuid }),
    t.partial({
      newFieldValues: FieldValues,
      onDrift: withDefault(enumeration('DriftHandling', 'replace', 'reject'), 'replace'),
    }),
  ]),
  output: InstanceRecord,
  failures: ['instance-not-found', 'template-version-not-found', ...upgradeRefusals, 'instance-drifted'],
  entity: instance,
  loadRelated: async ({ targetTemplateVersionId }, loads, caller, state) => ({
    wanted: await loadAccessibleVersion(targetTemplateVersionId, loads, caller),
    present: await loadPresentResources(state, loads),
  }),
  decide: (
    { instanceId: id, targetTemplateVersionId, newFieldValues = {}, onDrift },
    state,
    { related, maxFilledBytes },
  ) => {
    const { wanted, present } = related;
    if (state === null) throw new Error('an upgrade needs an instance');
    if (wanted === null) return E.left(versionNotFound(targetTemplateVersionId));
    const refusal =
      checkUpgradable(state, wanted.version) ?? (onDrift === 'reject' ? checkDrift(state, present) : null);
    if (refusal !== null) return E.left(refusal);
    const { fieldValues } = visibleTarget(state);
    const fields = fillFields(wanted.version.fieldsSchema, newFieldValues, fieldValues, '/newFieldValues');
    if ('faults' in fields) return E.left(invalidInput(fields.faults));
    const faults = filledFaults(wanted.version, fields.values, '/newFieldValues', maxFilledBytes);
    if (faults.length > 0) return E.left(invalidInput(faults));
    const next = nextOperation(id, state, wanted.version, fields.values, present);
    return E.right([newEvent('InstanceUpgradeRequested', { id, ...next })]);
  },
  answer: ({ state }) => instanceRecord(state),
});

function checkDrift(
  { base, operation, target }: NonNullable<InstanceState>,
  present: PresentResources,
): Failure | null {
  if (base === null) return null;
  const ids = driftedFlows(base.resources, present, operation === null ? null : target.resources);
  if (ids.length === 0) return null;
  return failure(
    'instance-drifted',
    `Changed by hand since it was provisioned: ${ids.slice(0, 20).join(', ')}${ids.length > 20 ? ', …' : ''}. ` +
      'Upgrade with onDrift=replace to replace the changes.',
  );
}
