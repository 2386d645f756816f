import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import * as decide from '#domain/batch/batch.ts';
import { batch } from '#domain/batch/batch.ts';
import * as events from '#test/support/events/batch-events.ts';
import { stateOf } from '#test/support/harness/recorded-events.ts';

const { batchCreated, batchId, batchTaken, batchChecked, batchEnded, linesCompleted } = events;
const { id: _, ...part } = linesCompleted(0, '1-3').data;

const eventsOf = (decided: ReturnType<typeof decide.batchTaken>) =>
  E.isRight(decided) ? decided.right : decided.left.code;

describe('decisions of a batch’s run', () => {
  const created = stateOf(batch, batchCreated());
  const running = stateOf(batch, batchCreated(), batchTaken(1, 5), batchChecked(6));

  it('begin a run with a token that ends every earlier run', () => {
    assert.deepEqual(eventsOf(decide.batchTaken(created, 0)), [batchTaken(1, 0)]);
    assert.deepEqual(eventsOf(decide.batchTaken(running, 5)), [batchTaken(2, 5)]);
    assert.deepEqual(eventsOf(decide.batchTaken(running, 6)), [batchTaken(2, 6)]);
    const taken = stateOf(batch, batchCreated(), batchTaken(1, 5), batchTaken(2, 6));
    assert.equal(eventsOf(decide.linesCompleted(taken, part)), 'batch-taken-over');
    assert.equal(eventsOf(decide.batchChecked(taken, 1, 6)), 'batch-taken-over');
    const outcome = { token: 1, outcome: 'completed' as const, errors: [] };
    assert.equal(eventsOf(decide.batchFinalizing(taken, outcome)), 'batch-taken-over');
  });

  it('refuse a node whose lease is older than that of the last run', () => {
    assert.equal(eventsOf(decide.batchTaken(running, 4)), 'batch-taken-over');
  });

  it('record a part once, and no line twice', () => {
    assert.deepEqual(eventsOf(decide.linesCompleted(running, part)), [linesCompleted(0, '1-3')]);
    const recorded = stateOf(batch, batchCreated(), batchTaken(1, 5), batchChecked(6), linesCompleted(0, '1-3'));
    assert.deepEqual(eventsOf(decide.linesCompleted(recorded, part)), []);
    const again = { ...linesCompleted(1, '3-4').data };
    assert.equal(eventsOf(decide.linesCompleted(recorded, again)), 'batch-taken-over');
    assert.deepEqual(eventsOf(decide.linesCompleted(recorded, { ...again, lines: '4-6' })), [linesCompleted(1, '4-6')]);
  });

  it('record nothing for a batch that has ended', () => {
    const ended = stateOf(batch, batchCreated(), batchTaken(1), batchChecked(6), batchEnded('completed'));
    assert.deepEqual(eventsOf(decide.batchTaken(ended, 0)), []);
    assert.deepEqual(eventsOf(decide.linesCompleted(ended, part)), []);
  });

  it('count the finished lines, and name the parts that hold them', () => {
    const history = [
      batchCreated(),
      batchTaken(1),
      batchChecked(6),
      linesCompleted(0, '1-3'),
      linesCompleted(1, '5-6'),
    ];
    const state = stateOf(batch, ...(history as never[]));
    assert.deepEqual(state?.facts.request_counts, { total: 6, completed: 4, failed: 2 });
    assert.equal(state?.partBytes, 60);
    assert.deepEqual(state === null ? [] : decide.batchPartsOf(state).map(({ blobId }) => blobId), [
      'part_cbatchone000001_1_0',
      'part_cbatchone000001_1_1',
    ]);
    assert.equal(decide.partBlobId(batchId, 1, 0), 'part_cbatchone000001_1_0');
  });
});
