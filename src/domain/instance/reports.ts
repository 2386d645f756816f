import type { EventOf } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import type { InstanceEvents } from './events.ts';
import { type InstanceState, pendingOperation, type RunningOperation } from './instance.ts';
import { nextSteps, type Step } from './steps.ts';

type Reported = ReadonlyArray<EventOf<InstanceEvents>>;

/** The progress of an operation. A finished step is reported once, by whichever node finishes it. */
export interface OperationProgress {
  readonly operation: RunningOperation;
  /** The steps to do now; none if only the end must be reported. */
  readonly steps: ReadonlyArray<Step>;
}

/** The progress; null if the operation has ended or is superseded. */
export function progressOf(state: InstanceState, number: number): OperationProgress | null {
  const operation = state && pendingOperation(state);
  if (operation === null || operation.number !== number) return null;
  return { operation, steps: nextSteps(operation.steps, operation.done) };
}

/** True if earlier decisions are still valid. */
export function isUnchanged(state: InstanceState, { operation }: OperationProgress): boolean {
  const now = progressOf(state, operation.number)?.operation;
  return now?.done === operation.done && (now.undoneFor === null) === (operation.undoneFor === null);
}

export interface RetryLimits {
  /**
   * Maximum number of attempts at the same steps, before the commit point; after it, and while undoing, there is no
   * limit.
   */
  readonly attempts: number;
  /** Milliseconds before the second attempt; each later pause is twice as long. */
  readonly firstPause: number;
  readonly longestPause: number;
}

/** Why an attempt at the next steps failed. */
export interface Problem {
  readonly reason: string;
  /** True if a retry does not help. */
  readonly isFinal: boolean;
}

/**
 * @param done how many of the next steps succeeded, from the first on
 * @param problem the failure of the step after these; null if all succeeded
 */
export function reportOn(
  state: NonNullable<InstanceState>,
  progress: OperationProgress,
  done: number,
  problem: Problem | null,
  retryLimits: RetryLimits,
  now: Date,
): Reported {
  const { id } = state;
  const { number: operation, done: before } = progress.operation;
  const progressed = done > 0 ? [newEvent('InstanceProgressed', { id, operation, done: before + done })] : [];
  const after: RunningOperation = { ...progress.operation, done: before + done };
  if (problem === null) return [...progressed, ...reached(state, after)];
  const attempt = (done > 0 ? 0 : progress.operation.attempts) + 1;
  const canFail = !after.committed && after.undoneFor === null && after.done >= after.clearing;
  if (canFail && (problem.isFinal || attempt >= retryLimits.attempts)) {
    const reason = problem.isFinal ? problem.reason : `${problem.reason} (tried ${attempt} times)`;
    return [...progressed, newEvent('InstanceOperationFailed', { id, operation, reason })];
  }
  const pause = Math.min(retryLimits.firstPause * 2 ** (attempt - 1), retryLimits.longestPause);
  const retryAt = new Date(now.getTime() + pause).toISOString();
  const { reason } = problem;
  return [...progressed, newEvent('InstanceAttemptFailed', { id, operation, attempt, reason, retryAt })];
}

/** Events for the commit point and the end, if the finished steps reach them. */
function reached({ id, base }: NonNullable<InstanceState>, after: RunningOperation): Reported {
  const { number: operation, done, steps, commitAt, committed, undoneFor } = after;
  const commits = !committed && undoneFor === null && done >= commitAt;
  const undone = base === null ? ('failed' as const) : ('undone' as const);
  const outcome = undoneFor === null ? ('succeeded' as const) : undone;
  return [
    ...(commits ? [newEvent('InstanceOperationCommitted', { id, operation })] : []),
    ...(done >= steps.length ? [newEvent('InstanceOperationEnded', { id, operation, outcome })] : []),
  ];
}
