import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { type BlobStore, BlobTooLargeError } from '#blob-store/blob-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

const maxBytes = 8 * 1024 * 1024;

/** Declares the tests of every blob store. @param open opens a new, empty store, which can be opened again */
export function blobStoreContract(
  name: string,
  open: () => Promise<{ readonly store: BlobStore; reopen(): Promise<BlobStore>; dispose(): Promise<void> }>,
): void {
  describe(`${name}: blob store contract`, () => {
    let opened: Awaited<ReturnType<typeof open>>;
    let store: BlobStore;
    beforeEach(async () => {
      opened = await open();
      store = opened.store;
    });
    afterEach(async () => {
      await store.close();
      await opened.dispose();
    });

    const read = async (id: string) => {
      const stream = await store.get(id);
      return stream === null ? null : buffer(stream);
    };

    it('returns a blob byte by byte as it was put, in chunks of any size', async () => {
      const content = randomBytes(700_001);
      const chunks = [
        content.subarray(0, 1),
        content.subarray(1, 1),
        content.subarray(1, 300_000),
        content.subarray(300_000),
      ];
      assert.equal(await store.put('file-1', from(chunks), maxBytes), content.length);
      assert.deepEqual(await read('file-1'), content);
      assert.equal(await store.size('file-1'), content.length);
    });

    it('stores an empty blob', async () => {
      assert.equal(await store.put('empty', from([]), maxBytes), 0);
      assert.deepEqual(await read('empty'), Buffer.alloc(0));
      assert.equal(await store.size('empty'), 0);
    });

    it('returns null for an unknown blob', async () => {
      assert.equal(await store.get('none'), null);
      assert.equal(await store.size('none'), null);
      await store.delete('none');
    });

    it('deletes a blob', async () => {
      await store.put('file', from([Buffer.from('content')]), maxBytes);
      await store.delete('file');
      assert.equal(await store.get('file'), null);
      assert.equal(await store.size('file'), null);
    });

    it('replaces an existing blob completely', async () => {
      await store.put('file', from([randomBytes(600_000)]), maxBytes);
      await store.put('file', from([Buffer.from('new')]), maxBytes);
      assert.equal(String(await read('file')), 'new');
      assert.equal(await store.size('file'), 3);
    });

    it('keeps an existing blob where the caller asks for that, and stores a new one', async () => {
      const put = (content: string) => store.put('file', from([Buffer.from(content)]), maxBytes, { keep: 'existing' });
      await put('first');
      await Promise.all([put('second'), put('third')]);
      assert.equal(String(await read('file')), 'first');
      await store.delete('file');
      await put('fourth');
      assert.equal(String(await read('file')), 'fourth');
    });

    it('serves the old blob while a new one is being put, and after that fails', async () => {
      await store.put('file', from([Buffer.from('old')]), maxBytes);
      const seen: string[] = [];
      const failing = async function* () {
        yield randomBytes(300_000);
        seen.push(String(await read('file')));
        throw new Error('the client went away');
      };
      await assert.rejects(store.put('file', failing(), maxBytes), /went away/);
      assert.deepEqual([...seen, String(await read('file'))], ['old', 'old']);
    });

    it('rejects a blob beyond the maximum size, and keeps nothing of it', async () => {
      let given = 0;
      const endless = async function* () {
        for (;;) {
          given += 1;
          yield Buffer.alloc(1000);
        }
      };
      await assert.rejects(store.put('file', endless(), 10_000), BlobTooLargeError);
      assert.equal(given, 11);
      assert.equal(await store.get('file'), null);
      assert.equal(await store.put('file', from([Buffer.alloc(10_000)]), 10_000), 10_000);
    });

    it('reads a blob no faster than its consumer, who may stop early', async () => {
      await store.put('file', from([randomBytes(3_000_000)]), maxBytes);
      const stream = await store.get('file');
      assert.ok(stream);
      const chunks = stream.iterator({ destroyOnReturn: true });
      const { value: first } = await chunks.next();
      assert.ok(first.byteLength > 0 && first.byteLength <= 64 * 1024, String(first.byteLength));
      await setTimeout(50);
      assert.equal(stream.readableLength, 0);
      await chunks.return?.();
      assert.equal(stream.destroyed, true);
      assert.equal((await read('file'))?.length, 3_000_000);
    });

    it('returns any part of a blob', async () => {
      const content = randomBytes(700_001);
      await store.put('file', from([content]), maxBytes);
      for (const [start, end] of [
        [0, 1],
        [0, 700_001],
        [1, 300_000],
        [65_535, 65_537],
        [261_119, 261_121],
        [700_000, 700_001],
        [5, 5],
        [700_001, 700_001],
      ] as const) {
        const part = await store.get('file', { start, end });
        assert.ok(part);
        assert.deepEqual(await buffer(part), content.subarray(start, end), `${start} to ${end}`);
      }
      await store.put('empty', from([]), maxBytes);
      const nothing = await store.get('empty', { start: 0, end: 0 });
      assert.ok(nothing);
      assert.equal((await buffer(nothing)).length, 0);
    });

    it('lists the blobs whose ids have a prefix, with their sizes and the times of storing', async () => {
      const before = Date.now();
      await store.put('part_1', from([Buffer.alloc(10)]), maxBytes);
      await store.put('part_2', from([Buffer.alloc(20)]), maxBytes);
      await store.put('file-1', from([Buffer.alloc(30)]), maxBytes);
      await store.delete('part_1');
      const listed = [];
      for await (const blob of store.list('part_')) listed.push(blob);
      assert.deepEqual(
        listed.map(({ id, bytes }) => [id, bytes]),
        [['part_2', 20]],
      );
      const age = (listed[0]?.storedAt.getTime() ?? 0) - before;
      assert.ok(age > -2_000 && age < 60_000, String(age));
      const all = [];
      for await (const { id } of store.list('')) all.push(id);
      assert.deepEqual(all.toSorted(), ['file-1', 'part_2']);
    });

    it('keeps nothing of a blob whose content breaks off, and stores the blob on the next attempt', async () => {
      const cut = async function* () {
        yield randomBytes(300_000);
        throw new Error('the connection was cut');
      };
      await assert.rejects(store.put('file', cut(), maxBytes), /was cut/);
      assert.equal(await store.get('file'), null);
      for await (const { id } of store.list('')) assert.fail(id);
      await store.put('file', from([Buffer.from('whole')]), maxBytes);
      assert.equal(String(await read('file')), 'whole');
    });

    it('keeps a blob across a restart', async () => {
      await store.put('file', from([Buffer.from('kept')]), maxBytes);
      await store.close();
      store = await opened.reopen();
      assert.equal(String(await read('file')), 'kept');
    });

    it('rejects ids that could lead to another path', async () => {
      for (const id of ['', '../up', 'a/b', 'a.b', 'a\u0000', 'x'.repeat(129)]) {
        await assert.rejects(store.put(id, from([]), maxBytes), /not an id/);
        await assert.rejects(store.get(id), /not an id/);
        await assert.rejects(store.size(id), /not an id/);
        await assert.rejects(store.delete(id), /not an id/);
      }
    });

    it('throws an UnavailableError when it is closed', async () => {
      await store.close();
      await assert.rejects(store.get('file'), UnavailableError);
      await assert.rejects(store.put('file', from([]), maxBytes), UnavailableError);
    });
  });
}

async function* from(chunks: ReadonlyArray<Uint8Array>): AsyncIterable<Uint8Array> {
  yield* chunks;
}
