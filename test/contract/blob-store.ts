import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { type BlobStore, BlobTooLarge } from '#blob-store/blob-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

const maxBytes = 8 * 1024 * 1024;

/** What every blob store must do. @param open makes a fresh, empty one, and opens it again on what is stored */
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

    it('gives back what was put, byte by byte, in chunks of any size', async () => {
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

    it('keeps an empty file', async () => {
      assert.equal(await store.put('empty', from([]), maxBytes), 0);
      assert.deepEqual(await read('empty'), Buffer.alloc(0));
      assert.equal(await store.size('empty'), 0);
    });

    it('knows nothing of what was never put', async () => {
      assert.equal(await store.get('none'), null);
      assert.equal(await store.size('none'), null);
      await store.delete('none');
    });

    it('deletes', async () => {
      await store.put('file', from([Buffer.from('content')]), maxBytes);
      await store.delete('file');
      assert.equal(await store.get('file'), null);
      assert.equal(await store.size('file'), null);
    });

    it('replaces a file that has the id already, whole', async () => {
      await store.put('file', from([randomBytes(600_000)]), maxBytes);
      await store.put('file', from([Buffer.from('new')]), maxBytes);
      assert.equal(String(await read('file')), 'new');
      assert.equal(await store.size('file'), 3);
    });

    it('keeps the old file while a new one is on its way, and when that fails', async () => {
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

    it('refuses more than it may hold, and leaves nothing of it', async () => {
      let given = 0;
      const endless = async function* () {
        for (;;) {
          given += 1;
          yield Buffer.alloc(1000);
        }
      };
      await assert.rejects(store.put('file', endless(), 10_000), BlobTooLarge);
      assert.equal(given, 11);
      assert.equal(await store.get('file'), null);
      assert.equal(await store.put('file', from([Buffer.alloc(10_000)]), 10_000), 10_000);
    });

    it('reads no faster than it is read, and can be left half-read', async () => {
      await store.put('file', from([randomBytes(3_000_000)]), maxBytes);
      const stream = await store.get('file');
      assert.ok(stream);
      for await (const chunk of stream) {
        assert.ok(chunk.byteLength > 0 && chunk.byteLength < 1_000_000);
        break;
      }
      assert.equal(stream.destroyed, true);
      assert.equal((await read('file'))?.length, 3_000_000);
    });

    it('keeps what it stored over a restart', async () => {
      await store.put('file', from([Buffer.from('kept')]), maxBytes);
      await store.close();
      store = await opened.reopen();
      assert.equal(String(await read('file')), 'kept');
    });

    it('takes no id that could lead elsewhere', async () => {
      for (const id of ['', '../up', 'a/b', 'a.b', 'a\u0000', 'x'.repeat(129)]) {
        await assert.rejects(store.put(id, from([]), maxBytes), /no id/);
        await assert.rejects(store.get(id), /no id/);
        await assert.rejects(store.size(id), /no id/);
        await assert.rejects(store.delete(id), /no id/);
      }
    });

    it('answers Unavailable when it is closed', async () => {
      await store.close();
      await assert.rejects(store.get('file'), UnavailableError);
      await assert.rejects(store.put('file', from([]), maxBytes), UnavailableError);
    });
  });
}

async function* from(chunks: ReadonlyArray<Uint8Array>): AsyncIterable<Uint8Array> {
  yield* chunks;
}
