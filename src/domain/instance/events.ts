import * as t from 'io-ts';
import { enumeration, nullable } from '#shared/codecs/choice.ts';
import { FieldValues } from './field-values.ts';
import { Resources } from './resources.ts';

export const PhoneNumberNeed = t.type({ key: t.string, label: t.string });

const target = {
  templateVersionId: t.string,
  /** An upgrade needs a higher number. */
  templateVersion: t.number,
  fieldValues: FieldValues,
  phoneNumberRequirements: t.readonlyArray(PhoneNumberNeed),
  resources: Resources,
};

export const InstanceTarget = t.type(target);
export type InstanceTarget = t.TypeOf<typeof InstanceTarget>;

export const OperationOutcome = enumeration('InstanceOperationOutcome', 'succeeded', 'failed', 'undone', 'superseded');

/**
 * The events of an instance's stream. Operations are numbered from 1, and every report names its operation: a report of
 * a superseded operation is refused.
 */
export const instanceEvents = {
  /** Begins operation 1. */
  InstanceCreated: t.type({
    id: t.string,
    projectId: t.string,
    organizationId: t.string,
    templateId: t.string,
    name: t.string,
    ...target,
  }),
  /** Begins an operation and supersedes a running one, like the next three. */
  InstanceUpgradeRequested: t.type({ id: t.string, operation: t.number, ...target }),
  /** Retries an operation that failed or was undone. */
  InstanceRetryRequested: t.type({ id: t.string, operation: t.number, ...target }),
  InstanceDeleted: t.type({ id: t.string, operation: t.number, keepResources: t.boolean }),
  /** This many of the operation's steps are done, from the first on. */
  InstanceProgressed: t.type({ id: t.string, operation: t.number, done: t.number }),
  /** A step failed and is retried, at this time at the earliest. */
  InstanceAttemptFailed: t.type({
    id: t.string,
    operation: t.number,
    attempt: t.number,
    reason: t.string,
    retryAt: t.string,
  }),
  /** The operation cannot succeed. From now on its steps are undone. */
  InstanceOperationFailed: t.type({ id: t.string, operation: t.number, reason: t.string }),
  /** The operation has passed its commit point and is no longer undone. */
  InstanceOperationCommitted: t.type({ id: t.string, operation: t.number }),
  InstanceOperationEnded: t.type({ id: t.string, operation: t.number, outcome: OperationOutcome }),
  InstancePhoneNumberSet: t.type({ id: t.string, key: t.string, phoneNumberId: nullable(t.string) }),
};

export type InstanceEvents = { [Type in keyof typeof instanceEvents]: t.TypeOf<(typeof instanceEvents)[Type]> };
