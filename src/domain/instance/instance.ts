import type { Entity, RecordedEventOf } from '#domain/shared/entity.ts';
import type { InstanceEvents, InstanceTarget } from './events.ts';
import type { InstanceRecord } from './record.ts';
import { type Step, stepsFromCommit, stepsToCommit, stepsToRemove, stepsToUndo } from './steps.ts';

export type OperationKind = 'provision' | 'upgrade' | 'delete';

/** An operation whose steps are done in order. */
export interface RunningOperation {
  readonly number: number;
  readonly kind: OperationKind;
  readonly startedAt: string;
  readonly steps: ReadonlyArray<Step>;
  readonly done: number;
  /** The number of first steps that clear up after superseded operations. */
  readonly clearing: number;
  /** The steps before this one can be undone. */
  readonly commitAt: number;
  readonly committed: boolean;
  /** Why its steps are being undone; null if they are not. */
  readonly undoneFor: string | null;
  /** The number of attempts since the last finished step. */
  readonly attempts: number;
  /** Why the last attempt failed, with the time of the next one. */
  readonly problem: { readonly reason: string; readonly retryAt: string } | null;
}

export interface LastOperation {
  readonly number: number;
  readonly kind: OperationKind;
  readonly templateVersionId: string;
  readonly outcome: InstanceEvents['InstanceOperationEnded']['outcome'];
  readonly reason: string | null;
  readonly startedAt: string;
  readonly endedAt: string;
}

/** Null before it was created. All of it is JSON: the read model folds it by the same `evolve`. */
export type InstanceState = {
  readonly id: string;
  readonly projectId: string;
  readonly organizationId: string;
  readonly templateId: string;
  readonly name: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly deleted: boolean;
  /** In a deleted instance, the operation that removes its resources; the rest is the last state. */
  readonly removal: RunningOperation | null;
  /** The target that was committed last; null before the first commit point. */
  readonly base: InstanceTarget | null;
  /** The target of the last operation, even if it failed: a retry uses it. */
  readonly target: InstanceTarget;
  readonly operation: RunningOperation | null;
  readonly lastOperation: LastOperation | null;
  /** The number of operations so far. */
  readonly operations: number;
  /** The phone numbers that meet requirements of the template. */
  readonly phoneNumbers: ReadonlyArray<{ readonly key: string; readonly phoneNumberId: string }>;
} | null;

type Created = NonNullable<InstanceState>;

/** Each instance has one stream, with its operations. */
export const instance: Entity<InstanceState, InstanceEvents> = {
  category: 'instance',
  initial: null,
  streamKey: (id) => id,
  everExisted: (state) => state !== null,
  isLive: (state) => state !== null && !state.deleted,
  estimateBytes: estimateBytes,
  notFound: 'instance-not-found',
  evolve: (state, event) => {
    if (event.type === 'InstanceCreated') return created(event.data, event.metadata.time);
    if (state === null) return null;
    return evolveInstance(
      event.type === 'InstanceDeleted' ? state : { ...state, updatedAt: event.metadata.time },
      event,
    );
  },
};

/** The estimated sizes of targets. All states between two operations share a target, so each size is computed once. */
const estimates = new WeakMap<InstanceTarget, number>();

function estimateBytes(state: InstanceState): number {
  if (state === null) return 0;
  const { base, target, operation, removal } = state;
  const steps = (operation?.steps.length ?? 0) + (removal?.steps.length ?? 0);
  return weightOfTarget(target) + (base === null ? 0 : weightOfTarget(base)) + bytesOfStep * steps;
}

function weightOfTarget(target: InstanceTarget): number {
  const known = estimates.get(target);
  if (known !== undefined) return known;
  const bytes = 2 * JSON.stringify(target).length;
  estimates.set(target, bytes);
  return bytes;
}

const bytesOfStep = 256;

/** The target that clients see: the committed one, or that of the running operation. */
export function visibleTarget({ operation, base, target }: Created): InstanceTarget {
  return operation !== null || base === null ? target : base;
}

function created(
  { id, projectId, organizationId, templateId, name, ...target }: InstanceEvents['InstanceCreated'],
  time: string,
): Created {
  const state: Created = {
    id,
    projectId,
    organizationId,
    templateId,
    name,
    createdAt: time,
    updatedAt: time,
    deleted: false,
    removal: null,
    base: null,
    target,
    operation: null,
    lastOperation: null,
    operations: 0,
    phoneNumbers: [],
  };
  return begun(state, 'provision', target, time);
}

function evolveInstance(state: Created, event: RecordedEventOf<InstanceEvents>): Created {
  const { time } = event.metadata;
  switch (event.type) {
    case 'InstanceCreated':
      return state;
    case 'InstanceUpgradeRequested':
    case 'InstanceRetryRequested': {
      const { id: _, operation: _number, ...target } = event.data;
      return begun(state, state.base === null ? 'provision' : 'upgrade', target, time);
    }
    case 'InstanceDeleted':
      return deleted(state, event.data.keepResources, time);
    case 'InstanceProgressed':
      return running(state, { done: event.data.done, attempts: 0, problem: null });
    case 'InstanceAttemptFailed': {
      const { attempt, reason, retryAt } = event.data;
      return running(state, { attempts: attempt, problem: { reason, retryAt } });
    }
    case 'InstanceOperationFailed': {
      const operation = pendingOperation(state);
      const steps = operation === null ? [] : leftToUndo(operation);
      const undoneFor = event.data.reason;
      return running(state, { steps, done: 0, clearing: 0, undoneFor, attempts: 0, problem: null });
    }
    case 'InstanceOperationCommitted':
      return running({ ...state, base: state.target, phoneNumbers: stillAsked(state) }, { committed: true });
    case 'InstanceOperationEnded': {
      const { operation } = state;
      if (state.deleted) return { ...state, removal: null };
      return operation === null
        ? state
        : { ...state, operation: null, lastOperation: ended(state, operation, event.data.outcome, time) };
    }
    case 'InstancePhoneNumberSet': {
      const { key, phoneNumberId } = event.data;
      const others = state.phoneNumbers.filter((each) => each.key !== key);
      return { ...state, phoneNumbers: phoneNumberId === null ? others : [...others, { key, phoneNumberId }] };
    }
  }
}

function begun(state: Created, kind: OperationKind, target: InstanceTarget, time: string): Created {
  const clearing = orphanedSteps(state.operation);
  const had = state.base?.resources ?? null;
  const toCommit = [...clearing, ...stepsToCommit(had, target.resources)];
  const steps = [...toCommit, ...stepsFromCommit(had, target.resources)];
  const how = { steps, clearing: clearing.length, commitAt: toCommit.length, committed: false };
  const { operation } = state;
  const lastOperation = operation === null ? state.lastOperation : ended(state, operation, 'superseded', time);
  const number = state.operations + 1;
  return { ...state, target, lastOperation, operations: number, operation: started(number, kind, how, time) };
}

/** A deletion is never undone: it begins at its commit point. */
function deleted(state: Created, keepResources: boolean, time: string): Created {
  const operations = state.operations + 1;
  if (keepResources) return { ...state, deleted: true, operations };
  const clearing = orphanedSteps(state.operation).filter(({ action }) => action !== 'adjust');
  const steps = [...clearing, ...stepsToRemove(state.base?.resources ?? null)];
  const how = { steps, clearing: clearing.length, commitAt: 0, committed: true };
  return { ...state, deleted: true, operations, removal: started(operations, 'delete', how, time) };
}

function started(
  number: number,
  kind: OperationKind,
  how: Pick<RunningOperation, 'steps' | 'clearing' | 'commitAt' | 'committed'>,
  startedAt: string,
): RunningOperation {
  return { number, kind, startedAt, ...how, done: 0, undoneFor: null, attempts: 0, problem: null };
}

export function pendingOperation({ deleted, removal, operation }: Created): RunningOperation | null {
  return deleted ? removal : operation;
}

function ended(
  { target }: Created,
  { number, kind, startedAt, undoneFor }: RunningOperation,
  outcome: LastOperation['outcome'],
  endedAt: string,
): LastOperation {
  const { templateVersionId } = target;
  return { number, kind, templateVersionId, outcome, reason: undoneFor, startedAt, endedAt };
}

function running(state: Created, change: Partial<RunningOperation>): Created {
  const operation = pendingOperation(state);
  if (operation === null) return state;
  return { ...state, [state.deleted ? 'removal' : 'operation']: { ...operation, ...change } };
}

/** The steps that a superseding operation does first, so that only the resources of the committed state are left. */
function orphanedSteps(operation: RunningOperation | null): ReadonlyArray<Step> {
  if (operation === null) return [];
  const { steps, done, committed, undoneFor, clearing } = operation;
  if (committed || undoneFor !== null) return steps.slice(done);
  return done < clearing ? steps.slice(done, clearing) : leftToUndo(operation);
}

/** The number of steps left to undo in an operation before its commit point. */
function leftToUndo({ steps, done, clearing, commitAt }: RunningOperation): ReadonlyArray<Step> {
  return stepsToUndo(steps.slice(clearing, commitAt), Math.max(0, done - clearing));
}

function stillAsked({ phoneNumbers, target }: Created): Created['phoneNumbers'] {
  const asked = new Set(target.phoneNumberRequirements.map(({ key }) => key));
  return phoneNumbers.filter(({ key }) => asked.has(key));
}

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
