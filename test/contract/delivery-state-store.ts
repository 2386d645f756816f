import assert from 'node:assert/strict';
import { newDeliveryState } from '#webhooks/state/delivery-state.ts';
import type { DeliveryStateStore } from '#webhooks/state/delivery-state-store.ts';

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

/**
 * Declares the tests of every delivery state store.
 * @param open creates an empty database that can be opened several times
 */
export function deliveryStateStoreContract(
  name: string,
  open: () => Promise<{ connect(): DeliveryStateStore; dispose(): Promise<void> }>,
): void {
  describe(`${name}: delivery state store contract`, () => {
    let place: Awaited<ReturnType<typeof open>>;
    let store: DeliveryStateStore;
    beforeEach(async () => {
      place = await open();
      store = place.connect();
    });
    afterEach(async () => {
      await store.close();
      await place.dispose();
    });

    it('has no state at first', async () => {
      assert.deepEqual(await store.acquire(log), { followed: null, states: new Map() });
      assert.equal(await store.peek('one'), null);
    });

    it('keeps the states of endpoints and the followed position across a restart', async () => {
      await store.acquire(log);
      await store.write(log, new Map([['one', one]]), 5);
      await store.write(log, new Map([['two', two]]), 12);
      await store.close();
      store = place.connect();
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
  });
}
