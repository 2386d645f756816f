import assert from 'node:assert/strict';
import type { RecordRange, RecordStore } from '#records/record-store.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { EncodedJson, type Json } from '#shared/json/json.ts';

const only = (key: string, value: Json) => new Map([[key, value]]);

/** An empty place for records that several nodes can open. */
export interface RecordPlace {
  connect(): RecordStore;
  dispose(): Promise<void>;
}

/** Declares the tests of every record store. @param open creates an empty place */
export function recordStoreContract(name: string, open: () => Promise<RecordPlace>): void {
  describe(`${name}: record store contract`, () => {
    let place: RecordPlace;
    let store: RecordStore;
    let other: RecordStore;
    beforeEach(async () => {
      place = await open();
      store = place.connect();
      other = place.connect();
    });
    afterEach(async () => {
      await store.close();
      await other.close();
      await place.dispose();
    });

    const values = (kind: Parameters<RecordStore['all']>[0], keys?: ReadonlyArray<string>) =>
      store.all(kind, keys).then((all) => Object.fromEntries([...all].sort()));

    it('has no value at first', async () => {
      assert.equal(await store.get('notes', 'one'), null);
      assert.deepEqual(await store.all('notes'), new Map());
      assert.deepEqual(await store.read([{ kind: 'notes', key: 'one' }]), [null]);
      assert.deepEqual(await store.read([]), []);
    });

    it('returns every JSON value as it was stored, with any key, to every node', async () => {
      const stored = {
        'flow-$one.two/three': { $set: { 'a.b': [1, null, 'ü\u0000"'] }, ['__proto__']: 1 },
        '': 'text',
        number: 2 ** 53 - 1,
        nothing: null,
        no: false,
      };
      await store.put('webhook-deliveries', new Map(Object.entries(stored)));
      for (const node of [store, other]) {
        const read = await node.all('webhook-deliveries');
        assert.deepEqual([...read].sort(), Object.entries(stored).sort());
        for (const [key, value] of Object.entries(stored))
          assert.deepEqual(await node.get('webhook-deliveries', key), value);
      }
    });

    it('keeps values across a restart', async () => {
      await store.put('notes', only('one', 1));
      await store.close();
      store = place.connect();
      assert.equal(await store.get('notes', 'one'), 1);
    });

    it('replaces a value', async () => {
      await store.put('notes', only('one', { a: 1, b: 2 }));
      await store.put('notes', only('one', { b: 3 }));
      assert.deepEqual(await store.get('notes', 'one'), { b: 3 });
    });

    it('separates kinds, of which one begins with the name of another', async () => {
      await store.put('processes', only('one', 1));
      await store.put('notes', only('one', 2));
      await store.delete('processes', ['one']);
      assert.deepEqual([await values('processes'), await values('notes')], [{}, { one: 2 }]);
    });

    it('reads the values of some keys, and omits missing ones', async () => {
      await store.put('key-usage', new Map(Object.entries({ a: 1, b: 2, c: 3 })));
      assert.deepEqual(await values('key-usage', ['a', 'c', 'never']), { a: 1, c: 3 });
      assert.deepEqual(await values('key-usage', ['b']), { b: 2 });
      assert.deepEqual(await values('key-usage', []), {});
    });

    it('reads values of several kinds together, in the order of their places', async () => {
      await store.put('notes', only('positions', { at: 7 }));
      await store.put('processes', only('all', { at: 9 }));
      await store.put('snapshots', only('flow-a', 'state'));
      const places = [
        { kind: 'snapshots', key: 'flow-a' },
        { kind: 'processes', key: 'all' },
        { kind: 'notes', key: 'never' },
        { kind: 'notes', key: 'positions' },
      ] as const;
      assert.deepEqual(await store.read(places), ['state', { at: 9 }, null, { at: 7 }]);
    });

    it('reads a part of the values in the order of their keys', async () => {
      const stored = { 'b/10': 1, 'b/2': 2, 'a/1': 3, b0: 4, 'c/1': 5, ü: 6 };
      await store.put('webhook-messages', new Map(Object.entries(stored)), { fence: 1 });
      await store.put('webhook-deliveries', only('b/3', 7));
      const page = async (range: RecordRange) => [...(await store.page('webhook-messages', range))];
      const ofB = [
        ['b/10', 1],
        ['b/2', 2],
      ];
      assert.deepEqual(await page({ after: 'b/', before: 'b0', limit: 10 }), ofB);
      assert.deepEqual(await page({ after: 'b/', before: 'b0', limit: 1 }), ofB.slice(0, 1));
      assert.deepEqual(await page({ after: 'b/10', before: 'b0', limit: 10 }), ofB.slice(1));
      assert.deepEqual(await page({ limit: 3 }), [['a/1', 3], ...ofB]);
      assert.deepEqual(await page({ after: 'b0', limit: 10 }), [
        ['c/1', 5],
        ['ü', 6],
      ]);
      assert.deepEqual(await page({ after: 'ü', limit: 10 }), []);
    });

    it('stores and removes hundreds of values together', async () => {
      const keys = Array.from({ length: 300 }, (_, index) => `key ${index}`);
      await store.put('webhook-deliveries', new Map(keys.map((key) => [key, key])), { fence: 1 });
      await store.put('webhook-deliveries', new Map(keys.map((key) => [key, key])), { fence: 1 });
      assert.equal((await store.all('webhook-deliveries')).size, 300);
      await store.delete('webhook-deliveries', keys.slice(1), { fence: 1 });
      assert.deepEqual(await values('webhook-deliveries'), { 'key 0': 'key 0' });
    });

    it('stores a value of twelve MiB', async () => {
      const large = 'x'.repeat(12 * 1024 * 1024);
      await store.put('snapshots', only('flow-a', large));
      assert.equal(await other.get('snapshots', 'flow-a'), large);
    });

    it('stores and returns a value as its text, without parsing it', async () => {
      const text = '[{"a":1},\n"ü"]';
      await store.put('snapshots', new Map([['flow-a', new EncodedJson(text)]]));
      assert.equal((await other.encoded('snapshots', 'flow-a'))?.text, text);
      assert.deepEqual(await other.get('snapshots', 'flow-a'), [{ a: 1 }, 'ü']);
      assert.equal(await other.encoded('snapshots', 'flow-b'), null);
    });

    it('removes a value that does not exist', async () => {
      await store.delete('notes', ['one']);
      await store.delete('notes', ['one'], { fence: 1 });
      assert.equal(await store.get('notes', 'one'), null);
    });

    it('keeps the greater value when asked, in any order of writes and nodes', async () => {
      const [early, late] = ['2026-01-01T10:04:00.000Z', '2026-01-01T10:05:00.000Z'];
      await store.put('key-usage', only('k1', late), { keep: 'greater' });
      await other.put('key-usage', new Map(Object.entries({ k1: early, k2: early })), { keep: 'greater' });
      await store.put('key-usage', only('k2', late), { keep: 'greater' });
      assert.deepEqual(await values('key-usage'), { k1: late, k2: late });
    });

    it('keeps an existing value when asked, and stores the others', async () => {
      await store.put('notes', only('one', 1));
      await other.put('notes', new Map(Object.entries({ one: 2, two: 2 })), { keep: 'existing' });
      assert.deepEqual(await values('notes'), { one: 1, two: 2 });
    });

    it('stores one of the values that nodes create at the same time', async () => {
      const nodes = [store, other, store, other];
      await Promise.all(nodes.map((node, index) => node.put('key-usage', only('one', index))));
      assert.ok([0, 1, 2, 3].includes(Number(await store.get('key-usage', 'one'))));
    });

    describe('fencing', () => {
      it('refuses every write with a token below the newest of the kind', async () => {
        await store.take('processes', 1);
        await store.put('processes', only('one', 1), { fence: 1 });
        await other.take('processes', 2);
        for (const write of [
          () => store.put('processes', only('one', 2), { fence: 1 }),
          () => store.put('processes', only('two', 2), { fence: 1 }),
          () => store.delete('processes', ['one'], { fence: 1 }),
          () => store.take('processes', 1),
        ]) {
          await assert.rejects(write, FencedError);
        }
        assert.deepEqual(await values('processes'), { one: 1 });
        await other.put('processes', only('one', 3), { fence: 2 });
        assert.deepEqual(await values('processes'), { one: 3 });
      });

      it('refuses a write with a token below that of the record, without a take', async () => {
        await other.put('notes', only('one', 2), { fence: 2 });
        await assert.rejects(store.put('notes', only('one', 1), { fence: 1 }), FencedError);
        await assert.rejects(store.delete('notes', ['one'], { fence: 1 }), FencedError);
        assert.deepEqual(await values('notes'), { one: 2 });
      });

      it('accepts the same token again, and a token of another kind', async () => {
        await store.take('processes', 5);
        await store.take('processes', 5);
        await other.put('processes', only('one', 1), { fence: 5 });
        await other.put('notes', only('one', 1), { fence: 1 });
        assert.deepEqual([await values('processes'), await values('notes')], [{ one: 1 }, { one: 1 }]);
      });

      it('does not fence a write without a token', async () => {
        await store.take('webhook-deliveries', 5);
        await store.put('webhook-deliveries', only('one', 1), { fence: 5 });
        await other.put('webhook-deliveries', only('one', 2));
        await other.put('webhook-deliveries', only('two', 2));
        await store.put('webhook-deliveries', new Map(Object.entries({ one: 3, two: 3 })), { fence: 5 });
        assert.deepEqual(await values('webhook-deliveries'), { one: 3, two: 3 });
      });

      it('keeps tokens across a restart', async () => {
        await store.take('notes', 3);
        await store.close();
        store = place.connect();
        await assert.rejects(store.put('notes', only('one', 1), { fence: 2 }), FencedError);
      });
    });
  });
}
