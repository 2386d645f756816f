import assert from 'node:assert/strict';
import type { LeaseStore } from '#leases/lease-store.ts';

/**
 * Declares the tests of every lease store.
 * @param open creates an empty database and returns one store for each node
 */
export function leaseStoreContract(name: string, open: () => () => LeaseStore): void {
  describe(`${name}: lease store contract`, () => {
    let connect: () => LeaseStore;
    let stores: LeaseStore[];
    beforeEach(() => {
      const openOne = open();
      stores = [];
      connect = () => {
        const store = openOne();
        stores.push(store);
        return store;
      };
    });
    afterEach(() => Promise.all(stores.map((store) => store.close())));

    it('returns null for a lease that was never held', async () => {
      const store = connect();
      assert.equal(await store.newest('work'), null);
      assert.equal(await store.renew('work', 1), false);
      await store.release('work', 1);
      assert.equal(await store.newest('work'), null);
    });

    it('shows a term, its renewals and its release to every node', async () => {
      const [one, other] = [connect(), connect()];
      assert.equal(await one.begin('work', 1, 'one'), true);
      assert.deepEqual(await other.newest('work'), { token: 1, holder: 'one', renewals: 0, released: false });
      assert.deepEqual([await one.renew('work', 1), await one.renew('work', 1)], [true, true]);
      assert.deepEqual(await other.newest('work'), { token: 1, holder: 'one', renewals: 2, released: false });
      await one.release('work', 1);
      assert.deepEqual(await other.newest('work'), { token: 1, holder: 'one', renewals: 2, released: true });
    });

    it('lets exactly one of many nodes begin a term', async () => {
      const nodes = Array.from({ length: 8 }, (_, index) => ({ store: connect(), holder: `node ${index}` }));
      for (let token = 1; token <= 5; token += 1) {
        const begun = await Promise.all(nodes.map(({ store, holder }) => store.begin('work', token, holder)));
        assert.equal(begun.filter((first) => first).length, 1, `term ${token} begun by ${begun}`);
        const winner = nodes[begun.indexOf(true)];
        assert.equal((await connect().newest('work'))?.holder, winner?.holder);
      }
    });

    it('refuses to renew or release an older term, and keeps the newer one', async () => {
      const [older, newer] = [connect(), connect()];
      await older.begin('work', 1, 'older');
      await newer.begin('work', 2, 'newer');
      assert.equal(await older.renew('work', 1), false);
      await older.release('work', 1);
      assert.deepEqual(await newer.newest('work'), { token: 2, holder: 'newer', renewals: 0, released: false });
      assert.equal(await newer.renew('work', 2), true);
    });

    it('refuses to begin an ended term again', async () => {
      const [slow, quick] = [connect(), connect()];
      await quick.begin('work', 1, 'quick');
      await quick.begin('work', 2, 'quick');
      await quick.begin('work', 3, 'quick');
      for (const token of [1, 2, 3]) assert.equal(await slow.begin('work', token, 'slow'), false);
      assert.equal((await slow.newest('work'))?.holder, 'quick');
      assert.equal(await quick.renew('work', 3), true);
    });

    it('counts fencing tokens separately for each lease of any name', async () => {
      const store = connect();
      const names = ['work', 'work#1', 'process:work', 'wörk $.x'];
      for (const [index, name] of names.entries()) {
        for (let token = 1; token <= index + 1; token += 1) assert.ok(await store.begin(name, token, name));
      }
      for (const [index, name] of names.entries()) {
        const term = { token: index + 1, holder: name, renewals: 0, released: false };
        assert.deepEqual(await store.newest(name), term);
      }
    });
  });
}
