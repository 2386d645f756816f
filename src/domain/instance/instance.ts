import type { Entity, RecordedEventOf } from '#domain/shared/entity.ts';
import type { InstanceEvents, Target } from './events.ts';
import { type Step, stepsFromCommit, stepsToCommit, stepsToRemove, stepsToUndo } from './steps.ts';

export type OperationKind = 'provision' | 'upgrade' | 'delete';

/** An operation that runs: a list of steps, worked through in order. */
export interface RunningOperation {
  readonly number: number;
  readonly kind: OperationKind;
  readonly startedAt: string;
  readonly steps: ReadonlyArray<Step>;
  /** How many of the steps are done. */
  readonly done: number;
  /** How many of the steps, the first ones, clear up after the operations that this one superseded. */
  readonly clearing: number;
  /** The steps before this one can be undone. */
  readonly commitAt: number;
  readonly committed: boolean;
  /** Why its steps are being undone; null while they are not. */
  readonly undoneFor: string | null;
  /** Attempts that failed since the last step that was done. */
  readonly attempts: number;
  /** What the last attempt failed with, and when the next one is due. */
  readonly problem: { readonly reason: string; readonly retryAt: string } | null;
}

/** The operation before. */
export interface LastOperation {
  readonly number: number;
  readonly kind: OperationKind;
  readonly templateVersionId: string;
  readonly outcome: InstanceEvents['InstanceOperationEnded']['outcome'];
  readonly reason: string | null;
  readonly startedAt: string;
  readonly endedAt: string;
}

/** An instance, or null before it was created. All of it is JSON: the read model folds it by the same `evolve`. */
export type InstanceState = {
  readonly id: string;
  readonly projectId: string;
  readonly organizationId: string;
  readonly templateId: string;
  readonly name: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly deleted: boolean;
  /** Of a deleted one: what takes away what it made; the rest stays as it was last. */
  readonly removal: RunningOperation | null;
  /** What it was brought to last, past the commit point; null when no operation came so far. */
  readonly base: Target | null;
  /** What the last operation wants it to be, whatever came of that: what is tried again. */
  readonly target: Target;
  readonly operation: RunningOperation | null;
  readonly lastOperation: LastOperation | null;
  /** How many operations there were. */
  readonly operations: number;
  /** The phone numbers that meet requirements. */
  readonly phoneNumbers: ReadonlyArray<{ readonly key: string; readonly phoneNumberId: string }>;
} | null;

type Created = NonNullable<InstanceState>;

/** An instance of a template: one stream with its operations. */
export const instance: Entity<InstanceState, InstanceEvents> = {
  category: 'instance',
  initial: null,
  streamKey: (id) => id,
  everExisted: (state) => state !== null,
  isLive: (state) => state !== null && !state.deleted,
  weigh: weightOf,
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

/** A target's weight: targets are shared by all states between two operations, and each is weighed once. */
const weights = new WeakMap<Target, number>();

function weightOf(state: InstanceState): number {
  if (state === null) return 0;
  const { base, target, operation, removal } = state;
  const steps = (operation?.steps.length ?? 0) + (removal?.steps.length ?? 0);
  return weightOfTarget(target) + (base === null ? 0 : weightOfTarget(base)) + bytesOfStep * steps;
}

function weightOfTarget(target: Target): number {
  const known = weights.get(target);
  if (known !== undefined) return known;
  const weight = 2 * JSON.stringify(target).length;
  weights.set(target, weight);
  return weight;
}

const bytesOfStep = 256;

/** The target that clients see: the current one, or the one that the operation is to reach. */
export function visibleTarget({ operation, base, target }: Created): Target {
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

/** Begins an operation that brings the instance to a target. */
function begun(state: Created, kind: OperationKind, target: Target, time: string): Created {
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

/** There is no way back from a deletion: it begins at its commit point. */
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

/** The operation that runs now, if any. */
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

/** The steps that a superseding operation must do first, so that only the base's resources are left. */
function orphanedSteps(operation: RunningOperation | null): ReadonlyArray<Step> {
  if (operation === null) return [];
  const { steps, done, committed, undoneFor, clearing } = operation;
  if (committed || undoneFor !== null) return steps.slice(done);
  return done < clearing ? steps.slice(done, clearing) : leftToUndo(operation);
}

/** What undoes the steps of an operation that has not come to its commit point. */
function leftToUndo({ steps, done, clearing, commitAt }: RunningOperation): ReadonlyArray<Step> {
  return stepsToUndo(steps.slice(clearing, commitAt), Math.max(0, done - clearing));
}

function stillAsked({ phoneNumbers, target }: Created): Created['phoneNumbers'] {
  const asked = new Set(target.phoneNumberRequirements.map(({ key }) => key));
  return phoneNumbers.filter(({ key }) => asked.has(key));
}
