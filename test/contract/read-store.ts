import assert from 'node:assert/strict';
import { noIncompleteStreams } from '#read-store/incomplete-streams.ts';
import type {
  CollectionDefinition,
  DocumentValue,
  DocumentWrite,
  Generation,
  PageKey,
  ReadStore,
  ReadStoreWriter,
  Where,
} from '#read-store/read-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { itInManyRounds } from '#test/support/run/long.ts';

/** A new read store with an open writer and an open reader. */
export interface OpenReadStore {
  readonly reader: ReadStore;
  readonly writer: ReadStoreWriter;
  /** Closes writer and reader, and opens them again on the stored data. */
  reopen(): Promise<OpenReadStore>;
  /** Closes writer and reader, and removes the stored data. */
  dispose(): Promise<void>;
}

const items: CollectionDefinition = { name: 'items', version: 1, indexes: [['group'], ['group', 'kind']] };
const everything = { limit: 1000, maxBytes: 8 * 1024 * 1024 };

/**
 * Declares the tests of every read store.
 * @param open opens a new, empty store
 * @param removed the documents of a large removal: more than twice those that the adapter removes at a time
 */
export function readStoreContract(name: string, open: () => Promise<OpenReadStore>, removed: number): void {
  describe(`${name}: read store contract`, () => {
    let store: OpenReadStore;
    beforeEach(async () => {
      store = await open();
    });
    afterEach(() => store.dispose());

    const published = async (definition = items, begunAt = 0): Promise<Generation> => {
      const generation = await store.writer.begin(definition, begunAt);
      await store.writer.finish(generation);
      await store.writer.publish(generation);
      return generation;
    };
    const commit = (generation: Generation, checkpoint: number, ...writes: ReadonlyArray<DocumentWrite>) =>
      store.writer.commit([{ generation, writes, checkpoint }]);
    const listed = async (where: Where, collection = 'items') =>
      (await store.reader.list(collection, where, everything)).documents.map(({ id }) => id);

    it('returns a document as it was put, with its order and the position of the last event', async () => {
      const generation = await published();
      const value = { text: 'ü\u0000"', number: 1.5, list: [1, [2]], nothing: null };
      await commit(generation, 7, put('a', 5, value, 7));
      const document = await store.reader.get('items', 'a');
      assert.deepEqual([document?.id, document?.order, document?.position, document?.value], ['a', 5, 7, value]);
      assert.equal(await store.reader.get('items', 'b'), null);
      await commit(generation, 9, put('a', 5, value, 9));
      const { documents } = await store.reader.list('items', {}, everything);
      assert.deepEqual(
        documents.map(({ id, order, position }) => [id, order, position]),
        [['a', 5, 9]],
      );
    });

    it('stores a member named __proto__ and deeply nested JSON', async () => {
      const generation = await published();
      const depth = 300;
      const text = `{"__proto__":{"admin":true},"$set":{"a.b":1},"deep":${'['.repeat(depth)}${']'.repeat(depth)}}`;
      await commit(generation, 1, put('a', 1, JSON.parse(text), 1));
      const document = await store.reader.get('items', 'a');
      assert.equal(JSON.stringify(document?.value), text);
      assert.equal(Reflect.get(document?.value ?? {}, 'admin'), undefined);
    });

    it('throws an UnavailableError for a collection that was never begun', async () => {
      await assert.rejects(store.reader.get('items', 'a'), UnavailableError);
      await assert.rejects(store.reader.list('items', {}, everything), UnavailableError);
    });

    it('reads documents for folding, and omits missing ones', async () => {
      const generation = await published();
      await commit(generation, 7, put('a', 5, { group: 'g' }, 7));
      const read = await store.writer.read(generation, ['a', 'b']);
      assert.deepEqual([...read.keys()], ['a']);
      assert.deepEqual(read.get('a'), { order: 5, position: 7, value: { group: 'g' }, bytes: 13 });
    });

    it('stores the checkpoint together with the documents', async () => {
      const generation = await published();
      await commit(generation, 7, put('a', 5, {}, 7));
      store = await store.reopen();
      assert.equal((await store.writer.generations('items')).current?.checkpoint, 7);
      assert.equal((await store.reader.get('items', 'a'))?.order, 5);
    });

    it('stores all writes of a commit or none', async () => {
      const generation = await published();
      const unstorable = { kind: 'delete-where', where: { undeclared: 1 }, position: 2 } as const;
      await assert.rejects(commit(generation, 2, put('a', 1, {}, 1), unstorable));
      assert.equal(await store.reader.get('items', 'a'), null);
      assert.equal((await store.writer.generations('items')).current?.checkpoint, 0);
    });

    it('never lets an older write overwrite a newer one', async () => {
      const generation = await published();
      await commit(generation, 9, put('a', 1, { now: 'new', group: 'g' }, 9));
      await commit(generation, 9, put('a', 1, { now: 'old' }, 8));
      await commit(generation, 9, { kind: 'delete', id: 'a', position: 8 });
      await commit(generation, 9, { kind: 'delete-where', where: { group: 'g' }, position: 8 });
      assert.deepEqual((await store.reader.get('items', 'a'))?.value, { now: 'new', group: 'g' });
    });

    it('ends with the same documents when commits are replayed', async () => {
      const generation = await published();
      const commits: ReadonlyArray<ReadonlyArray<DocumentWrite>> = [
        [put('a', 1, { group: 'g' }, 1), put('b', 2, { group: 'g' }, 2)],
        [{ kind: 'delete-where', where: { group: 'g' }, position: 3 }, put('c', 4, { group: 'g' }, 4)],
        [{ kind: 'delete', id: 'c', position: 5 }, put('a', 6, { group: 'h' }, 6)],
      ];
      const run = async () => {
        for (const [index, writes] of commits.entries()) await commit(generation, index + 1, ...writes);
      };
      await run();
      const first = await store.reader.list('items', {}, everything);
      await run();
      assert.deepEqual(await store.reader.list('items', {}, everything), first);
      assert.deepEqual(
        first.documents.map(({ id }) => id),
        ['a'],
      );
    });

    it('applies the writes of a batch in order', async () => {
      const generation = await published();
      await commit(generation, 1, put('a', 1, { group: 'g' }, 1));
      await commit(
        generation,
        4,
        { kind: 'delete-where', where: { group: 'g' }, position: 3 },
        put('b', 4, { group: 'g' }, 4),
      );
      assert.deepEqual(await listed({ group: 'g' }), ['b']);
    });

    itInManyRounds('deletes all documents that match an index, however many were put', removed, async (count) => {
      const generation = await published();
      const writes = Array.from({ length: count }, (_, index) =>
        put(`d${index}`, index, { group: index % 25 === 0 ? 'kept' : 'gone' }, index),
      );
      await commit(generation, count, ...writes);
      await commit(generation, count + 1, { kind: 'delete-where', where: { group: 'gone' }, position: count + 1 });
      assert.equal((await listed({ group: 'gone' })).length, 0);
      assert.equal((await listed({ group: 'kept' })).length, count / 25);
    });

    it('lists documents by a declared index in order, then by id, and all without a condition', async () => {
      const generation = await published();
      await commit(
        generation,
        9,
        put('z', 1, { group: 'g', kind: 'x' }, 1),
        put('b', 2, { group: 'g', kind: 'y' }, 2),
        put('a', 2, { group: 'g', kind: 'x' }, 2),
        put('c', 3, { group: 'h', kind: 'x' }, 3),
      );
      assert.deepEqual(await listed({ group: 'g' }), ['z', 'a', 'b']);
      assert.deepEqual(await listed({ kind: 'x', group: 'g' }), ['z', 'a']);
      assert.deepEqual(await listed({}), ['z', 'a', 'b', 'c']);
      await assert.rejects(listed({ kind: 'x' }), /index/);
    });

    it('counts the documents of a declared index up to a limit, without removed ones', async () => {
      const generation = await published();
      const kinds = ['x', 'y', 'x', 'x'];
      await commit(generation, 4, ...kinds.map((kind, index) => put(`d${index}`, index, { group: 'g', kind }, index)));
      await commit(generation, 6, put('e', 5, { group: 'h', kind: 'x' }, 5), {
        kind: 'delete',
        id: 'd0',
        position: 6,
      });
      assert.equal(await store.reader.count('items', { group: 'g' }, 10), 3);
      assert.equal(await store.reader.count('items', { group: 'g' }, 2), 2);
      assert.equal(await store.reader.count('items', { group: 'g', kind: 'x' }, 10), 2);
      assert.equal(await store.reader.count('items', { group: 'none' }, 10), 0);
      assert.equal(await store.reader.count('items', {}, 10), 4);
      await assert.rejects(store.reader.count('items', { kind: 'x' }, 10), /index/);
      await assert.rejects(store.reader.count('others', {}, 10), UnavailableError);
    });

    it('distinguishes null, text, numbers and booleans in an index', async () => {
      const generation = await published();
      const values = [null, '1', 1, true, false, 0, '', { nested: 1 }];
      await commit(generation, 9, ...values.map((group, index) => put(`d${index}`, index, { group }, index)));
      await commit(generation, 9, put('d8', 8, {}, 8));
      assert.deepEqual(await listed({ group: null }), ['d0', 'd8']);
      assert.deepEqual(await listed({ group: '1' }), ['d1']);
      assert.deepEqual(await listed({ group: 1 }), ['d2']);
      assert.deepEqual(await listed({ group: true }), ['d3']);
      assert.deepEqual(await listed({ group: false }), ['d4']);
      assert.deepEqual(await listed({ group: 0 }), ['d5']);
      assert.deepEqual(await listed({ group: '' }), ['d6']);
    });

    it('moves a document in the index when its field changes', async () => {
      const generation = await published();
      await commit(generation, 1, put('a', 1, { group: 'g' }, 1));
      await commit(generation, 2, put('a', 1, { group: 'h' }, 2));
      assert.deepEqual([await listed({ group: 'g' }), await listed({ group: 'h' })], [[], ['a']]);
    });

    it('pages through documents by count and by bytes without losing or repeating one', async () => {
      const generation = await published();
      const ids = Array.from({ length: 25 }, (_, index) => `d${String(index).padStart(2, '0')}`);
      await commit(
        generation,
        1,
        ...ids.map((id, index) => put(id, Math.floor(index / 3), { group: 'g', pad: 'x'.repeat(100) }, 1)),
      );
      for (const page of [
        { limit: 4, maxBytes: 1e6, newestFirst: false },
        { limit: 100, maxBytes: 500, newestFirst: false },
        { limit: 25, maxBytes: 1, newestFirst: false },
        { limit: 4, maxBytes: 1e6, newestFirst: true },
        { limit: 25, maxBytes: 1, newestFirst: true },
      ]) {
        const seen: string[] = [];
        let after: PageKey | null = null;
        do {
          const request: typeof page & { after?: PageKey } = after === null ? page : { ...page, after };
          const { documents, next } = await store.reader.list('items', { group: 'g' }, request);
          assert.ok(documents.length > 0);
          seen.push(...documents.map(({ id }) => id));
          after = next;
        } while (after !== null);
        assert.deepEqual(seen, page.newestFirst ? ids.toReversed() : ids);
      }
      assert.equal((await store.reader.list('items', { group: 'none' }, everything)).next, null);
    });

    it('makes the longest page that fits, whatever the sizes of its documents are', async () => {
      const generation = await published();
      const sizes = Array.from({ length: 60 }, (_, index) => (index % 30 < 20 ? 10 : 20_000));
      const writes = sizes.map((size, index) => put(`d${index}`, index, { text: 'x'.repeat(size) }, index));
      await commit(generation, sizes.length, ...writes);
      const lengths = sizes.map((size) => JSON.stringify({ text: 'x'.repeat(size) }).length);
      for (const newestFirst of [false, true]) {
        const expected = newestFirst ? lengths.toReversed() : lengths;
        let start = 0;
        for (let after: PageKey | null | undefined; after !== null; ) {
          const request = { limit: 25, maxBytes: 50_000, newestFirst, ...(after && { after }) };
          const page = await store.reader.list('items', {}, request);
          const count = page.documents.length;
          assert.deepEqual(
            page.documents.map(({ text }) => text.length),
            expected.slice(start, start + count),
          );
          const bytes = sumOf(expected.slice(start, start + count));
          const withNext = sumOf(expected.slice(start, start + count + 1));
          assert.ok(bytes <= 50_000, `${bytes} bytes`);
          assert.ok(page.next === null || count === 25 || withNext > 50_000, `${withNext} bytes with the next`);
          start += count;
          after = page.next;
        }
        assert.equal(start, sizes.length);
      }
    });

    it('serves the old generation until the new one is published, and then immediately the new one', async () => {
      const old = await published();
      await commit(old, 5, put('a', 1, { from: 'old', group: 'g' }, 5), put('b', 2, { group: 'g' }, 5));
      const next = await store.writer.begin({ ...items, version: 2 }, 5);
      await commit(next, 3, put('a', 1, { from: 'new', group: 'g' }, 3));
      assert.deepEqual((await store.reader.get('items', 'a'))?.value, { from: 'old', group: 'g' });
      assert.deepEqual(await listed({ group: 'g' }), ['a', 'b']);
      await commit(old, 6, put('b', 2, { from: 'old', group: 'g' }, 6));
      assert.deepEqual((await store.reader.get('items', 'b'))?.value, { from: 'old', group: 'g' });
      await store.writer.finish(next);
      await store.writer.publish(next);
      assert.deepEqual((await store.reader.get('items', 'a'))?.value, { from: 'new', group: 'g' });
      assert.equal(await store.reader.get('items', 'b'), null);
      assert.deepEqual(await listed({ group: 'g' }), ['a']);
      const { current, filling } = await store.writer.generations('items');
      assert.deepEqual([current?.version, current?.complete, current?.checkpoint, filling], [2, true, 3, null]);
    });

    it('serves the first generation while it is incomplete, and reports it as such', async () => {
      const generation = await store.writer.begin(items, 9);
      await commit(generation, 3, put('a', 1, { group: 'g' }, 3));
      assert.equal((await store.reader.get('items', 'a'))?.order, 1);
      assert.deepEqual(await listed({ group: 'g' }), ['a']);
      const { current } = await store.writer.generations('items');
      assert.deepEqual([current?.complete, current?.begunAt, current?.checkpoint], [false, 9, 3]);
    });

    it('keeps an unfinished rebuild across a restart, and drops it when another begins', async () => {
      await published();
      const first = await store.writer.begin({ ...items, version: 2 }, 4);
      await commit(first, 3, put('a', 1, {}, 3));
      store = await store.reopen();
      const { filling } = await store.writer.generations('items');
      assert.deepEqual(filling, { ...first, checkpoint: 3 });
      const second = await store.writer.begin({ ...items, version: 3 }, 5);
      assert.ok(second.number > first.number);
      assert.deepEqual((await store.writer.generations('items')).filling, second);
      assert.equal((await store.writer.read(second, ['a'])).size, 0);
    });

    it('deletes by index while a new generation has no indexes yet', async () => {
      const generation = await store.writer.begin(items, 0);
      await commit(generation, 2, put('a', 1, { group: 'g' }, 1), put('b', 2, { group: 'h' }, 2));
      await commit(generation, 3, { kind: 'delete-where', where: { group: 'g' }, position: 3 });
      await store.writer.finish(generation);
      await store.writer.finish(generation);
      assert.deepEqual(await listed({}), ['b']);
    });

    it('drops collections that no projection makes', async () => {
      await published();
      const other = await published({ ...items, name: 'others' });
      await commit(other, 1, put('a', 1, {}, 1));
      await store.writer.dropOthers(['others']);
      assert.deepEqual(await store.writer.generations('items'), { current: null, filling: null });
      await assert.rejects(store.reader.get('items', 'a'), UnavailableError);
      assert.equal((await store.reader.get('others', 'a'))?.order, 1);
    });

    it('stores status and operator state', async () => {
      assert.deepEqual(await store.reader.status(), []);
      assert.deepEqual(await store.writer.operatorState(), { position: 0, skipped: {} });
      const status = { name: 'items', version: 1, state: 'running', ready: true, begunAt: 0, position: 4 } as const;
      await store.writer.saveStatus([
        { ...status, failure: null, rebuild: null, incompleteStreams: noIncompleteStreams },
      ]);
      const state = { position: 8, skipped: { items: ['e'] }, madeFrom: { items: '1/first' } };
      await store.writer.saveOperatorState(state);
      store = await store.reopen();
      assert.deepEqual(await store.reader.status(), [
        { ...status, failure: null, rebuild: null, incompleteStreams: noIncompleteStreams },
      ]);
      assert.deepEqual(await store.writer.operatorState(), state);
    });

    it('throws an UnavailableError when it is closed', async () => {
      await published();
      await store.reader.close();
      await assert.rejects(store.reader.get('items', 'a'), UnavailableError);
    });
  });
}

function put(id: string, order: number, value: DocumentValue, position: number): DocumentWrite {
  return { kind: 'put', id, order, value, body: JSON.stringify(value), position };
}

const sumOf = (numbers: ReadonlyArray<number>) => numbers.reduce((sum, number) => sum + number, 0);
