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

    const newest = async (store: LeaseStore, lease: string) => (await store.newestOfAll()).get(lease);

    it('knows no term of a lease that was never held', async () => {
      const store = connect();
      assert.equal(await store.renewAll([{ name: 'work', token: 1 }]), 0);
      await store.release('work', 1);
      assert.deepEqual(await store.newestOfAll(), new Map());
    });

    it('shows a term, its renewals and its release to every node', async () => {
      const [one, other] = [connect(), connect()];
      assert.equal(await one.begin('work', 1, 'one'), true);
      assert.deepEqual(await newest(other, 'work'), { token: 1, holder: 'one', renewals: 0, released: false });
      for (let renewals = 0; renewals < 2; renewals += 1) await one.renewAll([{ name: 'work', token: 1 }]);
      assert.deepEqual(await newest(other, 'work'), { token: 1, holder: 'one', renewals: 2, released: false });
      await one.release('work', 1);
      assert.deepEqual(await newest(other, 'work'), { token: 1, holder: 'one', renewals: 2, released: true });
    });

    it('renews the named terms of several leases together, and no other, and counts them', async () => {
      const store = connect();
      for (const lease of ['a', 'b', 'c']) await store.begin(lease, 1, 'one');
      const held = ['a', 'b'].map((name) => ({ name, token: 1 }));
      assert.equal(await store.renewAll([...held, { name: 'missing', token: 1 }]), 2);
      const renewals = Array.from(await store.newestOfAll(), ([lease, term]) => [lease, term.renewals]);
      assert.deepEqual(Object.fromEntries(renewals), { a: 1, b: 1, c: 0 });
    });

    it('lets exactly one of many nodes begin a term', async () => {
      const nodes = Array.from({ length: 8 }, (_, index) => ({ store: connect(), holder: `node ${index}` }));
      for (let token = 1; token <= 5; token += 1) {
        const begun = await Promise.all(nodes.map(({ store, holder }) => store.begin('work', token, holder)));
        assert.equal(begun.filter((first) => first).length, 1, `term ${token} begun by ${begun}`);
        const winner = nodes[begun.indexOf(true)];
        assert.equal((await newest(connect(), 'work'))?.holder, winner?.holder);
      }
    });

    it('does not renew or release an older term, and keeps the newer one', async () => {
      const [older, newer] = [connect(), connect()];
      await older.begin('work', 1, 'older');
      await newer.begin('work', 2, 'newer');
      assert.equal(await older.renewAll([{ name: 'work', token: 1 }]), 0);
      await older.release('work', 1);
      assert.deepEqual(await newest(newer, 'work'), { token: 2, holder: 'newer', renewals: 0, released: false });
    });

    it('refuses to begin an ended term again', async () => {
      const [slow, quick] = [connect(), connect()];
      await quick.begin('work', 1, 'quick');
      await quick.begin('work', 2, 'quick');
      await quick.begin('work', 3, 'quick');
      for (const token of [1, 2, 3]) assert.equal(await slow.begin('work', token, 'slow'), false);
      assert.deepEqual(await newest(slow, 'work'), { token: 3, holder: 'quick', renewals: 0, released: false });
    });

    it('renews no term after another node has begun the next one, and never brings it back', async () => {
      const [older, newer] = [connect(), connect()];
      for (let token = 1; token <= 20; token += 2) {
        assert.equal(await older.begin('work', token, 'older'), true);
        let isSuperseded = false;
        const late: number[] = [];
        const renewing = Array.from({ length: 4 }, async () => {
          for (let wasSuperseded = false; !wasSuperseded; ) {
            wasSuperseded = isSuperseded;
            const renewed = await older.renewAll([{ name: 'work', token }]);
            if (wasSuperseded) late.push(renewed);
          }
        });
        assert.equal(await newer.begin('work', token + 1, 'newer'), true);
        isSuperseded = true;
        await Promise.all(renewing);
        assert.deepEqual(late, [0, 0, 0, 0]);
        const begun = { token: token + 1, holder: 'newer', renewals: 0, released: false };
        assert.deepEqual(await newest(newer, 'work'), begun);
      }
    });

    it('counts fencing tokens separately for each lease of any name', async () => {
      const store = connect();
      const names = ['work', 'work#1', 'process:work', 'wörk $.x'];
      for (const [index, name] of names.entries()) {
        for (let token = 1; token <= index + 1; token += 1) assert.ok(await store.begin(name, token, name));
      }
      const expected = names.map((name, index) => [
        name,
        { token: index + 1, holder: name, renewals: 0, released: false },
      ]);
      assert.deepEqual(Object.fromEntries(await store.newestOfAll()), Object.fromEntries(expected));
    });
  });
}
