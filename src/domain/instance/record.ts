import * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { timestamp } from '#domain/codecs/time.ts';
import { versionNumber } from '#domain/codecs/version-number.ts';
import { nullable, oneOf } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';
import { OperationOutcome } from './events.ts';
import { FieldValues } from './field-values.ts';

const OperationKind = oneOf('provision', 'upgrade', 'delete');

/** One step of a running operation. */
const StepRecord = t.type(
  {
    action: oneOf('create', 'prepare', 'activate', 'adjust', 'remove', 'restore', 'discard'),
    resource: oneOf('flow', 'agent-profile', 'store'),
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
    /** Why it is being undone. */
    undoneFor: nullable(text()),
    stepsDone: t.number,
    steps: t.readonlyArray(StepRecord),
    /** The failure of the last attempt, and the time of the next one. */
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

/** The status of an instance. */
export const InstanceStatus = oneOf('provisioning', 'active', 'failed');

/** An instance in the API (contract, "Instance"), with its resources and its running operation. */
export const InstanceRecord = t.type(
  {
    id: cuid,
    templateId: cuid,
    templateVersionId: cuid,
    organizationId: cuid,
    projectId: cuid,
    name: text(),
    fieldValues: FieldValues,
    status: InstanceStatus,
    /** Its resources in the project; those of an upgrade only after its commit point. */
    resources: t.type({
      flows: t.readonlyArray(t.type({ key: text(), flowId: cuid, flowVersionId: cuid })),
      agentProfileId: nullable(cuid),
      stores: t.readonlyArray(t.type({ key: text(), storeId: cuid })),
    }),
    phoneNumberRequirements: t.readonlyArray(PhoneNumberRequirement),
    operation: nullable(RunningOperationRecord),
    lastOperation: nullable(LastOperationRecord),
    createdAt: timestamp,
    updatedAt: timestamp,
  },
  'Instance',
);

export type InstanceRecord = t.TypeOf<typeof InstanceRecord>;

/** An instance that is read by its id, with the flows that were changed by hand after their provisioning. */
export const InstanceDetails = t.intersection(
  [
    InstanceRecord,
    /** Null for a past state of the instance, because past states of its resources are not read. */
    t.type({ drifted: nullable(t.readonlyArray(cuid)) }),
  ],
  'InstanceDetails',
);

export type InstanceDetails = t.TypeOf<typeof InstanceDetails>;
