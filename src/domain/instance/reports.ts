import type { EventOf } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import type { InstanceEvents } from './events.ts';
import { type InstanceState, pendingOperation, type RunningOperation } from './instance.ts';
import { nextSteps, type Step } from './steps.ts';

type Reported = ReadonlyArray<EventOf<InstanceEvents>>;

/** How far an operation is. What is done there is reported once, whichever process instance does it. */
export interface OperationProgress {
  readonly operation: RunningOperation;
  /** The steps to do now; none when only the end must be reported. */
  readonly steps: ReadonlyArray<Step>;
}

/** How far an operation is; null when it has ended or was superseded. */
export function progressOf(state: InstanceState, number: number): OperationProgress | null {
  const operation = state && pendingOperation(state);
  if (operation === null || operation.number !== number) return null;
  return { operation, steps: nextSteps(operation.steps, operation.done) };
}

/** Whether an operation is still as far as it was, so that what was decided then may be done. */
export function isUnchanged(state: InstanceState, { operation }: OperationProgress): boolean {
  const now = progressOf(state, operation.number)?.operation;
  return now?.done === operation.done && (now.undoneFor === null) === (operation.undoneFor === null);
}

/** How far an operation may be tried. */
export interface Patience {
  /** Attempts at the same steps, before the commit point; past it, and undoing, there is no end to them. */
  readonly attempts: number;
  /** Milliseconds before the second attempt; twice as long each time. */
  readonly firstPause: number;
  readonly longestPause: number;
}

/** Why an attempt at the next steps failed. */
export interface Problem {
  readonly reason: string;
  /** Trying again does not help. */
  readonly forGood: boolean;
}

/**
 * The events that report an attempt at the next steps.
 * @param done how many of the next steps succeeded, from the first on
 * @param problem of the one behind them; null when all succeeded
 */
export function reportOn(
  state: NonNullable<InstanceState>,
  standing: OperationProgress,
  done: number,
  problem: Problem | null,
  patience: Patience,
  now: Date,
): Reported {
  const { id } = state;
  const { number: operation, done: before } = standing.operation;
  const progressed = done > 0 ? [newEvent('InstanceProgressed', { id, operation, done: before + done })] : [];
  const after: RunningOperation = { ...standing.operation, done: before + done };
  if (problem === null) return [...progressed, ...reached(state, after)];
  const attempt = (done > 0 ? 0 : standing.operation.attempts) + 1;
  const canFail = !after.committed && after.undoneFor === null && after.done >= after.clearing;
  if (canFail && (problem.forGood || attempt >= patience.attempts)) {
    const reason = problem.forGood ? problem.reason : `${problem.reason} (tried ${attempt} times)`;
    return [...progressed, newEvent('InstanceOperationFailed', { id, operation, reason })];
  }
  const pause = Math.min(patience.firstPause * 2 ** (attempt - 1), patience.longestPause);
  const retryAt = new Date(now.getTime() + pause).toISOString();
  const { reason } = problem;
  return [...progressed, newEvent('InstanceAttemptFailed', { id, operation, attempt, reason, retryAt })];
}

/** The commit point and the end, where the steps done lead there. */
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
