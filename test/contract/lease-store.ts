import assert from 'node:assert/strict';
import type { LeaseStore, LeaseTerm } from '#leases/lease-store.ts';
import { eventually } from '#test/support/run/eventually.ts';

const firstMs = 1_400;

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
    const begun = (token: number, holder: string): LeaseTerm => ({
      ...{ token, holder, renewals: 0, expiryMs: firstMs, released: false },
    });

    it('knows no term of a lease that was never held', async () => {
      const store = connect();
      assert.equal(await store.renewAll([{ name: 'work', token: 1 }], { number: 1, expiryMs: 1_400 }), 0);
      await store.release('work', 1);
      assert.deepEqual(await store.newestOfAll(), new Map());
    });

    it('shows a term, its last renewal with its expiry, and its release to every node', async () => {
      const [one, other] = [connect(), connect()];
      assert.equal(await one.begin('work', 1, 'one', firstMs), true);
      assert.deepEqual(await newest(other, 'work'), begun(1, 'one'));
      for (const [number, expiryMs] of [
        [3, 20_000],
        [7, 2_000],
      ] as const)
        assert.equal(await one.renewAll([{ name: 'work', token: 1 }], { number, expiryMs }), 1);
      const renewed = { token: 1, holder: 'one', renewals: 7, expiryMs: 2_000, released: false };
      assert.deepEqual(await newest(other, 'work'), renewed);
      await one.release('work', 1);
      assert.deepEqual(await newest(other, 'work'), { ...renewed, released: true });
    });

    it('changes nothing with the late write of an older round', async () => {
      const store = connect();
      await store.begin('work', 1, 'one', firstMs);
      await store.renewAll([{ name: 'work', token: 1 }], { number: 5, expiryMs: 1_400 });
      for (const number of [4, 5])
        assert.equal(await store.renewAll([{ name: 'work', token: 1 }], { number, expiryMs: 20_000 }), 0);
      assert.deepEqual(await newest(store, 'work'), { ...begun(1, 'one'), renewals: 5 });
    });

    it('renews the named terms of several leases together, and no other, and counts them', async () => {
      const store = connect();
      for (const lease of ['a', 'b', 'c']) await store.begin(lease, 1, 'one', firstMs);
      const held = ['a', 'b'].map((lease) => ({ name: lease, token: 1 }));
      assert.equal(await store.renewAll([...held, { name: 'missing', token: 1 }], { number: 1, expiryMs: 1_400 }), 2);
      const renewals = Array.from(await store.newestOfAll(), ([lease, term]) => [lease, term.renewals]);
      assert.deepEqual(Object.fromEntries(renewals), { a: 1, b: 1, c: 0 });
    });

    it('lets exactly one of many nodes begin a term', async () => {
      const nodes = Array.from({ length: 8 }, (_, index) => ({ store: connect(), holder: `node ${index}` }));
      for (let token = 1; token <= 5; token += 1) {
        const firsts = await Promise.all(nodes.map(({ store, holder }) => store.begin('work', token, holder, firstMs)));
        assert.equal(firsts.filter((first) => first).length, 1, `term ${token} begun by ${firsts}`);
        const winner = nodes[firsts.indexOf(true)];
        assert.equal((await newest(connect(), 'work'))?.holder, winner?.holder);
      }
    });

    it('shows the newer term while the older one is not removed, and keeps the newer one', async () => {
      const [older, newer] = [connect(), connect()];
      await older.begin('work', 1, 'older', firstMs);
      await newer.begin('work', 2, 'newer', firstMs);
      await older.release('work', 1);
      await older.renewAll([{ name: 'work', token: 1 }], { number: 9, expiryMs: 9_000 });
      assert.deepEqual(await newest(newer, 'work'), begun(2, 'newer'));
    });

    it('never shows a term that a suspended node begins after newer ones', async () => {
      const [slow, quick] = [connect(), connect()];
      for (const token of [1, 2, 3]) assert.equal(await quick.begin('work', token, 'quick', firstMs), true);
      assert.equal(await slow.begin('work', 3, 'slow', firstMs), false);
      for (const token of [1, 2]) await slow.begin('work', token, 'slow', firstMs);
      assert.deepEqual(await newest(slow, 'work'), begun(3, 'quick'));
    });

    it('renews no term soon after another node has begun the next one, and never brings it back', async () => {
      const [older, newer] = [connect(), connect()];
      for (let token = 1; token <= 20; token += 2) {
        assert.equal(await older.begin('work', token, 'older', firstMs), true);
        let number = 0;
        const renew = () => {
          number += 1;
          return older.renewAll([{ name: 'work', token }], { number, expiryMs: 1_400 });
        };
        const renewing = Array.from({ length: 4 }, () => eventually(async () => (await renew()) === 0, 'its removal'));
        assert.equal(await newer.begin('work', token + 1, 'newer', firstMs), true);
        await Promise.all(renewing);
        await eventually(async () => (await renew()) === 0, 'its removal');
        for (let times = 0; times < 4; times += 1) assert.equal(await renew(), 0);
        assert.deepEqual(await newest(newer, 'work'), begun(token + 1, 'newer'));
      }
    });

    it('counts fencing tokens separately for each lease of any name', async () => {
      const store = connect();
      const names = ['work', 'work#1', 'process:work', 'wörk $.x'];
      for (const [index, lease] of names.entries()) {
        for (let token = 1; token <= index + 1; token += 1) assert.ok(await store.begin(lease, token, lease, firstMs));
      }
      const expected = names.map((lease, index) => [lease, begun(index + 1, lease)]);
      assert.deepEqual(Object.fromEntries(await store.newestOfAll()), Object.fromEntries(expected));
    });
  });
}
