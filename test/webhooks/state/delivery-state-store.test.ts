import assert from 'node:assert/strict';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { InMemoryRecordStore } from '#test/support/fakes/in-memory-record-store.ts';
import { newDeliveryState } from '#webhooks/state/delivery-state.ts';
import { DeliveryStateStore } from '#webhooks/state/delivery-state-store.ts';

const log = '3/first';
const other = '3/another';
const one = newDeliveryState(7);
const two = {
  ...newDeliveryState(9, '2026-01-05T09:30:00.000Z'),
  open: [
    {
      position: 8,
      stream: 'flow-$one.two',
      revision: 3,
      type: 'FlowRenamed',
      attempts: 2,
      firstTriedAt: 1,
      dueAt: 2,
      isTest: false,
    },
  ],
  failingSince: 1,
  failures: 2,
  replayedAt: 4,
};

describe('DeliveryStateStore', () => {
  let records: InMemoryRecordStore;
  let store: DeliveryStateStore;
  beforeEach(() => {
    records = new InMemoryRecordStore();
    store = new DeliveryStateStore(records);
  });

  it('has no state at first', async () => {
    assert.deepEqual(await store.acquire(log), { followed: null, states: new Map() });
    assert.equal(await store.peek('one'), null);
  });

  it('keeps the states of endpoints and the followed position across a restart', async () => {
    await store.acquire(log);
    await store.write(log, new Map([['one', one]]), 5);
    await store.write(log, new Map([['two', two]]), 12);
    store = new DeliveryStateStore(records);
    assert.deepEqual(await store.peek('two'), two);
    const states = new Map([
      ['one', one],
      ['two', two],
    ]);
    assert.deepEqual(await store.acquire(log), { followed: 12, states });
  });

  it('returns no state of another log', async () => {
    await store.acquire(log);
    await store.write(log, new Map([['one', one]]), 5);
    assert.deepEqual(await store.acquire(other), { followed: null, states: new Map() });
  });

  it('removes the state of a removed endpoint', async () => {
    await store.acquire(log);
    await store.write(log, new Map(Object.entries({ one, two })), 5);
    await store.remove(['one', 'never']);
    assert.deepEqual((await store.acquire(log)).states, new Map([['two', two]]));
  });

  it('takes a state that it cannot read for lost', async () => {
    await store.acquire(log);
    await store.write(log, new Map([['one', one]]), 5);
    for (const value of [null, 'text', { log }, { log, state: { ...one, open: [{}] } }]) {
      await records.put('webhook-deliveries', new Map([['two', value]]));
      assert.deepEqual(await store.acquire(log), { followed: 5, states: new Map([['one', one]]) });
      assert.equal(await store.peek('two'), null);
    }
  });

  it('refuses the writes of a node with an older token after a takeover', async () => {
    const [older, newer] = [new DeliveryStateStore(records, 1), new DeliveryStateStore(records, 2)];
    const state = new Map([['one', newDeliveryState(3)]]);
    await older.acquire(log);
    await older.write(log, state, 3);
    await newer.acquire(log);
    await assert.rejects(older.write(log, new Map([['one', newDeliveryState(1)]]), 1), FencedError);
    await assert.rejects(older.write(log, new Map(), 1), FencedError);
    await assert.rejects(older.remove(['one']), FencedError);
    await assert.rejects(older.acquire(log), FencedError);
    assert.deepEqual(await newer.acquire(log), { followed: 3, states: state });
  });
});
