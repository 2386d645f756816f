import assert from 'node:assert/strict';
import type { RecordStore } from '#records/record-store.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
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

const messageAt = (position: number) => ({
  ...{ position, stream: 'flow-one', revision: position, type: 'FlowRenamed' },
  ...{ attempts: 1, firstTriedAt: 1, dueAt: 2, isTest: false },
});

/** The records of a node that ends after the allowed writes. */
function endingAfter(records: InMemoryRecordStore, allowed: number): RecordStore {
  let writes = 0;
  const limited = (name: 'put' | 'delete') => (kind: never, given: never, options: never) => {
    writes += 1;
    if (writes > allowed) throw new UnavailableError('The node ends here.');
    return records[name](kind, given, options);
  };
  return new Proxy<RecordStore>(records, {
    get: (store, name: keyof RecordStore) =>
      name === 'put' || name === 'delete' ? limited(name) : store[name].bind(store),
  });
}

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
    for (const value of [null, 'text', { log }, { log, state: { ...one, position: 'one' } }]) {
      await records.put('webhook-deliveries', new Map([['two', value]]));
      assert.deepEqual(await store.acquire(log), { followed: 5, states: new Map([['one', one]]) });
      assert.equal(await store.peek('two'), null);
    }
  });

  it('stores each open message as a record, and writes only the ones that have changed', async () => {
    const three = { ...two, open: [messageAt(10), messageAt(9), messageAt(8)] };
    await store.acquire(log);
    await store.write(log, new Map([['three', three]]), 12);
    const puts: string[] = [];
    records.beforePut = async (entries) => void puts.push(...entries.keys());
    const changed = { ...messageAt(9), attempts: 5 };
    await store.write(log, new Map([['three', { ...three, position: 11, open: [changed], closed: [8] }]]), 13);
    assert.deepEqual(puts, ['three/9', 'three', '-followed']);
    const after = { ...three, position: 11, open: [changed, messageAt(10)] };
    assert.deepEqual(await store.acquire(log), { followed: 13, states: new Map([['three', after]]) });
  });

  it('loses no open message when it ends at any of its writes', async () => {
    const before = { ...one, position: 3, open: [messageAt(2), messageAt(3)] };
    const changes = new Map([['one', { ...one, position: 5, open: [messageAt(4), messageAt(5)], closed: [2] }]]);
    for (let allowed = 0; allowed < 4; allowed += 1) {
      records = new InMemoryRecordStore();
      await new DeliveryStateStore(records).write(log, new Map([['one', before]]), 5);
      await assert.rejects(new DeliveryStateStore(endingAfter(records, allowed)).write(log, changes, 5), /ends here/);
      const state = (await new DeliveryStateStore(records).acquire(log)).states.get('one');
      assert.ok(state !== undefined);
      const open = state.open.map(({ position }) => position);
      for (const position of [3, 4, 5]) assert.ok(position > state.position || open.includes(position), `${allowed}`);
    }
  });

  it('removes messages that a crash has left without a state', async () => {
    await store.write(log, new Map([['one', { ...one, open: [messageAt(3)] }]]), 5);
    await records.delete('webhook-deliveries', ['one']);
    assert.deepEqual(await store.acquire(log), { followed: 5, states: new Map() });
    await store.write(log, new Map([['one', one]]), 5);
    assert.deepEqual((await store.acquire(log)).states, new Map([['one', one]]));
  });

  it('keeps the messages of another log, and does not mix them with its own', async () => {
    const ofOther = { ...one, open: [messageAt(3)] };
    await store.write(other, new Map([['one', ofOther]]), 5);
    assert.deepEqual((await store.acquire(log)).states, new Map());
    await store.write(log, new Map([['two', two]]), 5);
    assert.deepEqual((await store.acquire(other)).states, new Map([['one', ofOther]]));
  });

  it('takes a state for lost if one of its messages cannot be read', async () => {
    await store.write(log, new Map([['one', { ...one, open: [messageAt(3), messageAt(4), messageAt(5)] }]]), 5);
    await records.put('webhook-messages', new Map([['one/4', { log }]]));
    assert.deepEqual((await store.acquire(log)).states, new Map());
    assert.deepEqual(await records.all('webhook-messages'), new Map());
  });

  it('reads and removes thousands of messages to one endpoint', async () => {
    const open = Array.from({ length: 2_500 }, (_, index) => messageAt(index + 1));
    await store.write(log, new Map(Object.entries({ one: { ...one, open }, two })), 5);
    assert.deepEqual((await store.peek('one'))?.open, open);
    assert.deepEqual((await store.acquire(log)).states.get('one')?.open, open);
    await store.remove(['one']);
    assert.deepEqual([...(await records.all('webhook-messages')).keys()], ['two/8']);
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
