import { type InstanceState, type RunningOperation, visibleTarget } from './instance.ts';
import type { InstanceRecord } from './record.ts';

/** The record of an instance from its state. */
export function instanceRecord(state: InstanceState): InstanceRecord {
  if (state === null) throw new Error('an answer about an instance needs one');
  const { templateVersionId, fieldValues } = visibleTarget(state);
  return {
    id: state.id,
    templateId: state.templateId,
    templateVersionId,
    organizationId: state.organizationId,
    projectId: state.projectId,
    name: state.name,
    fieldValues,
    status: statusOf(state),
    resources: resourcesOf(state),
    phoneNumberRequirements: requirementsOf(state),
    operation: state.operation === null ? null : operationOf(state.operation, state.target.templateVersionId),
    lastOperation: state.lastOperation,
    createdAt: state.createdAt,
    updatedAt: state.updatedAt,
  };
}

/** The status of an instance. */
export function statusOf({ operation, base }: NonNullable<InstanceState>): InstanceRecord['status'] {
  if (operation !== null) return 'provisioning';
  return base === null ? 'failed' : 'active';
}

function resourcesOf({ base }: NonNullable<InstanceState>): InstanceRecord['resources'] {
  const { flows = [], agentProfile = null, stores = [] } = base?.resources ?? {};
  return {
    flows: flows.map(({ key, id, versionId }) => ({ key, flowId: id, flowVersionId: versionId })),
    agentProfileId: agentProfile?.id ?? null,
    stores: stores.map(({ key, id }) => ({ key, storeId: id })),
  };
}

function requirementsOf(state: NonNullable<InstanceState>): InstanceRecord['phoneNumberRequirements'] {
  const met = new Map(state.phoneNumbers.map(({ key, phoneNumberId }) => [key, phoneNumberId]));
  return visibleTarget(state).phoneNumberRequirements.map(({ key, label }) => ({
    key,
    label,
    phoneNumberId: met.get(key) ?? null,
  }));
}

function operationOf(operation: RunningOperation, templateVersionId: string): InstanceRecord['operation'] {
  const { number, kind, startedAt, committed, undoneFor, done, steps, attempts, problem } = operation;
  return {
    number,
    kind,
    templateVersionId,
    startedAt,
    committed,
    undoneFor,
    stepsDone: done,
    steps: steps.map(({ action, resource, key, id }, index) => ({ action, resource, key, id, done: index < done })),
    problem: problem && { ...problem, attempts },
  };
}
