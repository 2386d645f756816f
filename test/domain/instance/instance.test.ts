import assert from 'node:assert/strict';
import { instance, instanceRecord, pendingOperation } from '#domain/instance/instance.ts';
import { isUnchanged, type Problem, progressOf, type RetryLimits, reportOn } from '#domain/instance/reports.ts';
import {
  activeInstance,
  attemptFailed,
  committed,
  ended,
  instanceCreated,
  instanceDeleted,
  operationFailed,
  progressed,
  retryRequested,
  targetOf,
  upgradeRequested,
} from '#test/support/events/instance-events.ts';
import { type ExampleEvent, foldEvents } from '#test/support/harness/recorded-events.ts';

const stateAfter = (...events: ReadonlyArray<ExampleEvent>) => {
  const { state } = foldEvents(instance, events);
  assert.ok(state);
  return state;
};
/** Returns the remaining steps as readable text. */
const left = (...events: ReadonlyArray<ExampleEvent>) => {
  const operation = pendingOperation(stateAfter(...events));
  return operation?.steps
    .slice(operation.done)
    .map(({ action, resource, key, contested }) => `${action} ${key ?? resource}${contested ? ' (contested)' : ''}`);
};
const shownAfter = (...events: ReadonlyArray<ExampleEvent>) => {
  const { status, templateVersionId, lastOperation } = instanceRecord(stateAfter(...events));
  return [status, templateVersionId.at(-1), lastOperation?.outcome];
};

const first = targetOf(1);
/** Keeps `welcome` and the profile, and removes `bye` and the store. */
const lean = targetOf(2, {
  resources: {
    ...targetOf(2, {}, first).resources,
    flows: targetOf(2, {}, first).resources.flows.slice(0, 1),
    stores: [],
  },
});
/** Follows `lean`: creates `bye` and the store again as new resources. */
const full = targetOf(3, {}, lean);

describe('operations of an instance', () => {
  it('creates all resources in the first operation', () => {
    assert.deepEqual(left(instanceCreated()), ['create agent-profile', 'create welcome', 'create bye', 'create faq']);
    assert.deepEqual(shownAfter(instanceCreated()), ['provisioning', '1', undefined]);
    assert.deepEqual(shownAfter(...activeInstance()), ['active', '1', 'succeeded']);
  });

  it('prepares and activates kept resources, and adjusts them and removes others after the commit point', () => {
    const begun = [...activeInstance(), upgradeRequested(2, lean)];
    assert.deepEqual(left(...begun), [
      'prepare welcome',
      'activate welcome',
      'adjust agent-profile',
      'adjust welcome',
      'remove bye',
      'remove faq',
    ]);
    assert.equal(pendingOperation(stateAfter(...begun))?.commitAt, 2);
    assert.deepEqual(
      left(...begun, progressed(2, 2), committed(2), progressed(2, 6), ended(2), upgradeRequested(3, full)),
      ['create bye', 'create faq', 'prepare welcome', 'activate welcome', 'adjust agent-profile', 'adjust welcome'],
    );
  });

  it('undoes a failed operation from its last begun step to its first', () => {
    const begun = [instanceCreated(), progressed(1, 1)];
    assert.deepEqual(left(...begun, operationFailed(1)), [
      'remove bye (contested)',
      'remove welcome (contested)',
      'remove agent-profile',
    ]);
    const upgrade = [...activeInstance(), upgradeRequested(2, lean), progressed(2, 1)];
    assert.deepEqual(left(...upgrade, operationFailed(2)), ['restore welcome (contested)', 'discard welcome']);
    assert.deepEqual(shownAfter(...upgrade, operationFailed(2)), ['provisioning', '2', 'succeeded']);
    assert.deepEqual(shownAfter(...upgrade, operationFailed(2), ended(2, 'undone')), ['active', '1', 'undone']);
    assert.deepEqual(shownAfter(...begun, operationFailed(1), ended(1, 'failed')), ['failed', '1', 'failed']);
  });

  it('undoes an operation that is superseded before its commit point, and then begins the next from what exists', () => {
    assert.deepEqual(left(instanceCreated(), progressed(1, 1), upgradeRequested(2, targetOf(2))), [
      'remove bye (contested)',
      'remove welcome (contested)',
      'remove agent-profile',
      'create agent-profile',
      'create welcome',
      'create bye',
      'create faq',
    ]);
    const halfCleared = [
      ...activeInstance(),
      upgradeRequested(2, lean),
      progressed(2, 1),
      upgradeRequested(3, full),
      progressed(3, 1),
    ];
    assert.deepEqual(left(...halfCleared, instanceDeleted(4)), [
      'discard welcome',
      'remove welcome',
      'remove bye',
      'remove faq',
      'remove agent-profile',
    ]);
  });

  it('completes the undoing of an operation that is superseded meanwhile', () => {
    const undoing = [instanceCreated(), progressed(1, 3), operationFailed(1), progressed(1, 1)];
    assert.deepEqual(left(...undoing, upgradeRequested(2, targetOf(2)))?.slice(0, 4), [
      'remove bye',
      'remove welcome',
      'remove agent-profile',
      'create agent-profile',
    ]);
  });

  it('completes an operation that is superseded past its commit point', () => {
    const finishing = [
      ...activeInstance(),
      upgradeRequested(2, lean),
      progressed(2, 2),
      committed(2),
      progressed(2, 3),
    ];
    assert.deepEqual(left(...finishing, upgradeRequested(3, full)), [
      'adjust welcome',
      'remove bye',
      'remove faq',
      'create bye',
      'create faq',
      'prepare welcome',
      'activate welcome',
      'adjust agent-profile',
      'adjust welcome',
    ]);
    assert.deepEqual(left(...finishing, instanceDeleted(3)), [
      'remove bye',
      'remove faq',
      'remove welcome',
      'remove agent-profile',
    ]);
    const failed = [...finishing, upgradeRequested(3, full), operationFailed(3), ended(3, 'undone')];
    assert.deepEqual(shownAfter(...failed), ['active', '2', 'undone']);
  });

  it('shows a superseded operation as superseded, and retries a failed one with its target', () => {
    const superseded = [instanceCreated(), upgradeRequested(2, targetOf(2))];
    assert.deepEqual(shownAfter(...superseded), ['provisioning', '2', 'superseded']);
    const failed = [...superseded, operationFailed(2), ended(2, 'failed'), retryRequested(3, targetOf(3))];
    assert.deepEqual(shownAfter(...failed), ['provisioning', '3', 'failed']);
    assert.equal(instanceRecord(stateAfter(...failed)).operation?.kind, 'provision');
  });

  it('keeps the last record of a deleted instance', () => {
    const record = instanceRecord(stateAfter(...activeInstance()));
    assert.deepEqual(instanceRecord(stateAfter(...activeInstance(), instanceDeleted(2))), record);
    assert.deepEqual(instanceRecord(stateAfter(...activeInstance(), instanceDeleted(2, true))), record);
    assert.equal(left(...activeInstance(), instanceDeleted(2, true)), undefined);
    assert.equal(left(...activeInstance(), instanceDeleted(2), progressed(2, 4), ended(2)), undefined);
  });

  it('shows the progress of an operation, and the problem that it waits for', () => {
    const waiting = [instanceCreated(), progressed(1, 1), attemptFailed(1, 2)];
    const { operation } = instanceRecord(stateAfter(...waiting));
    assert.deepEqual(operation?.problem, { reason: 'not now', attempts: 2, retryAt: '2026-01-05T09:40:00.000Z' });
    assert.deepEqual(
      [operation?.stepsDone, operation?.steps.map(({ done }) => done)],
      [1, [true, false, false, false]],
    );
    assert.equal(instanceRecord(stateAfter(...waiting, progressed(1, 2))).operation?.problem, null);
  });

  it('keeps the state of an instance as plain JSON, because the read model stores it', () => {
    const state = stateAfter(...activeInstance(), upgradeRequested(2, lean), progressed(2, 1), operationFailed(2));
    assert.deepEqual(JSON.parse(JSON.stringify(state)), state);
  });
});

describe('reportOn', () => {
  const retryLimits: RetryLimits = { attempts: 3, firstPause: 100, longestPause: 350 };
  const now = new Date('2026-01-05T10:00:00.000Z');
  const passing: Problem = { reason: 'not now', isFinal: false };
  const isFinal: Problem = { reason: 'too large', isFinal: true };
  const report = (number: number, done: number, problem: Problem | null, ...events: ReadonlyArray<ExampleEvent>) => {
    const state = stateAfter(...events);
    const standing = progressOf(state, number);
    assert.ok(standing);
    return reportOn(state, standing, done, problem, retryLimits, now);
  };
  const at = (milliseconds: number) => new Date(now.getTime() + milliseconds).toISOString();

  it('reports progress, and the commit point and the end when they are reached', () => {
    assert.deepEqual(report(1, 1, null, instanceCreated()), [progressed(1, 1)]);
    assert.deepEqual(report(1, 1, null, instanceCreated(), progressed(1, 3)), [
      progressed(1, 4),
      committed(1),
      ended(1),
    ]);
    const upgrade = [...activeInstance(), upgradeRequested(2, lean)];
    assert.deepEqual(report(2, 1, null, ...upgrade, progressed(2, 1)), [progressed(2, 2), committed(2)]);
    const past = [...upgrade, progressed(2, 2), committed(2), progressed(2, 5)];
    assert.deepEqual(report(2, 1, null, ...past), [progressed(2, 6), ended(2)]);
  });

  it('reports a failed attempt with the time of the next one, later each time, and at last a failure', () => {
    const begun = [instanceCreated()];
    assert.deepEqual(report(1, 0, passing, ...begun), [attemptFailed(1, 1, 'not now', at(100))]);
    const tried = [...begun, attemptFailed(1, 1)];
    assert.deepEqual(report(1, 0, passing, ...tried), [attemptFailed(1, 2, 'not now', at(200))]);
    const reason = 'not now (tried 3 times)';
    assert.deepEqual(report(1, 0, passing, ...tried, attemptFailed(1, 2)), [operationFailed(1, reason)]);
    assert.deepEqual(report(1, 1, passing, ...tried, attemptFailed(1, 2)), [
      progressed(1, 1),
      attemptFailed(1, 1, 'not now', at(100)),
    ]);
  });

  it('reports a failure immediately when a retry cannot help', () => {
    assert.deepEqual(report(1, 0, isFinal, instanceCreated()), [operationFailed(1, 'too large')]);
  });

  it('retries without end when an operation can neither be undone nor abandoned', () => {
    const attempts = attemptFailed(2, 9);
    const past = [...activeInstance(), upgradeRequested(2, lean), progressed(2, 2), committed(2), attempts];
    const undoing = [...activeInstance(), upgradeRequested(2, lean), progressed(2, 1), operationFailed(2), attempts];
    const deleting = [...activeInstance(), instanceDeleted(2), attempts];
    const clearing = [instanceCreated(), progressed(1, 1), upgradeRequested(2, targetOf(2)), attempts];
    for (const events of [past, undoing, deleting, clearing]) {
      for (const problem of [passing, isFinal]) {
        assert.deepEqual(report(2, 0, problem, ...events), [attemptFailed(2, 10, problem.reason, at(350))]);
      }
    }
  });

  it('reports the outcome of an operation', () => {
    const undone = [...activeInstance(), upgradeRequested(2, lean), operationFailed(2), progressed(2, 0)];
    assert.deepEqual(report(2, 1, null, ...undone), [progressed(2, 1), ended(2, 'undone')]);
    assert.deepEqual(report(1, 1, null, instanceCreated(), operationFailed(1)), [progressed(1, 1), ended(1, 'failed')]);
    assert.deepEqual(report(2, 4, null, ...activeInstance(), instanceDeleted(2)), [progressed(2, 4), ended(2)]);
  });

  it('reports on the running operation only at its current step', () => {
    const state = stateAfter(instanceCreated());
    const standing = progressOf(state, 1);
    assert.ok(standing);
    assert.equal(progressOf(state, 2), null);
    assert.equal(progressOf(stateAfter(...activeInstance()), 1), null);
    assert.ok(isUnchanged(state, standing));
    assert.ok(isUnchanged(stateAfter(instanceCreated(), attemptFailed(1, 1)), standing));
    for (const more of [progressed(1, 1), operationFailed(1), upgradeRequested(2), instanceDeleted(2), ended(1)]) {
      assert.ok(!isUnchanged(stateAfter(instanceCreated(), more), standing), more.type);
    }
  });
});
