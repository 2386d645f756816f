import * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { timestamp } from '#domain/codecs/time.ts';
import { versionNumber } from '#domain/codecs/version-number.ts';
import { exampleIds, recordTimes } from '#domain/shared/examples.ts';
import { enumeration, nullable } from '#shared/codecs/choice.ts';
import { record } from '#shared/codecs/record.ts';
import { text } from '#shared/codecs/text.ts';
import { OperationOutcome } from './events.ts';
import { FieldValues } from './field-values.ts';

const OperationKind = enumeration('InstanceOperationKind', 'provision', 'upgrade', 'delete');

/** A step of a running operation. */
const StepRecord = t.type(
  {
    action: enumeration(
      'InstanceStepAction',
      'create',
      'prepare',
      'activate',
      'adjust',
      'remove',
      'restore',
      'discard',
    ),
    resource: enumeration('InstanceStepResource', 'flow', 'agent-profile', 'store'),
    key: nullable(text()),
    id: cuid,
    done: t.boolean,
  },
  'InstanceStep',
);

const RunningOperationRecord = t.type(
  {
    number: versionNumber,
    kind: OperationKind,
    templateVersionId: cuid,
    startedAt: timestamp,
    /** Before the commit point a failure undoes everything; after it the operation is only completed. */
    committed: t.boolean,
    undoneFor: nullable(text()),
    stepsDone: t.number,
    steps: t.readonlyArray(StepRecord),
    /** Why the last attempt failed, with the time of the next one. */
    problem: nullable(t.type({ reason: text(), attempts: t.number, retryAt: timestamp })),
  },
  'RunningOperation',
);

const LastOperationRecord = t.type(
  {
    number: versionNumber,
    kind: OperationKind,
    templateVersionId: cuid,
    outcome: OperationOutcome,
    reason: nullable(text()),
    startedAt: timestamp,
    endedAt: timestamp,
  },
  'LastOperation',
);

const PhoneNumberRequirement = t.type({ key: text(), label: text(), phoneNumberId: nullable(cuid) });

export const InstanceStatus = enumeration('InstanceStatus', 'provisioning', 'active', 'failed');

/** See "Instance" in the contract. The record has the resources and the running operation. */
export const InstanceRecord = record('Instance', {
  id: [cuid, exampleIds.instance],
  templateId: [cuid, exampleIds.template],
  templateVersionId: [cuid, exampleIds.templateVersion],
  organizationId: [cuid, exampleIds.organization],
  projectId: [cuid, exampleIds.project],
  name: [text(), 'Dr. Weber'],
  fieldValues: [FieldValues, { practice_name: 'Dr. Weber', max_minutes: '10' }],
  status: [InstanceStatus, 'active'],
  /** Resources in the project; those of an upgrade only after its commit point. */
  resources: [
    t.type({
      flows: t.readonlyArray(t.type({ key: text(), flowId: cuid, flowVersionId: cuid })),
      agentProfileId: nullable(cuid),
      stores: t.readonlyArray(t.type({ key: text(), storeId: cuid })),
    }),
    {
      flows: [{ key: 'welcome', flowId: exampleIds.flow, flowVersionId: exampleIds.flowVersion }],
      agentProfileId: exampleIds.agentProfile,
      stores: [{ key: 'faq', storeId: exampleIds.store }],
    },
  ],
  phoneNumberRequirements: [
    t.readonlyArray(PhoneNumberRequirement),
    [{ key: 'main', label: 'Main line', phoneNumberId: null }],
  ],
  operation: [nullable(RunningOperationRecord), null],
  lastOperation: [
    nullable(LastOperationRecord),
    {
      number: 1,
      kind: 'provision',
      templateVersionId: exampleIds.templateVersion,
      outcome: 'succeeded',
      reason: null,
      startedAt: '2026-01-05T09:30:00.000Z',
      endedAt: '2026-01-05T09:30:00.120Z',
    },
  ],
  ...recordTimes,
});

export type InstanceRecord = t.TypeOf<typeof InstanceRecord>;

/** An instance that is read by its id, with the flows that were changed by hand after their provisioning. */
export const InstanceDetails = t.intersection(
  [
    InstanceRecord,
    /** The drifted flows; null for a past state of the instance, because past states of its resources are not read. */
    t.type({ drifted: nullable(t.readonlyArray(cuid)) }),
  ],
  'InstanceDetails',
);

export type InstanceDetails = t.TypeOf<typeof InstanceDetails>;
