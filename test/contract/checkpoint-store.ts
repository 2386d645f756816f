import assert from 'node:assert/strict';
import type { CheckpointStore } from '#processes/checkpoint-store.ts';

/** What every checkpoint store must do. @param open makes an empty place, and opens it as often as it is asked */
export function checkpointStoreContract(
  name: string,
  open: () => Promise<{ connect(): CheckpointStore; dispose(): Promise<void> }>,
): void {
  describe(`${name}: checkpoint store contract`, () => {
    let place: Awaited<ReturnType<typeof open>>;
    let store: CheckpointStore;
    beforeEach(async () => {
      place = await open();
      store = place.connect();
    });
    afterEach(async () => {
      await store.close();
      await place.dispose();
    });

    it('begins at the beginning', async () => {
      assert.deepEqual(await store.peek('one'), { position: 0, lastAppended: 0 });
      assert.deepEqual(await store.read('one'), { position: 0, lastAppended: 0 });
      assert.deepEqual(await store.peek('one'), { position: 0, lastAppended: 0 });
    });

    it('keeps what was written of each process', async () => {
      await store.read('one');
      await store.write('one', { position: 7, lastAppended: 0 });
      await store.write('one', { position: 2 ** 40, lastAppended: 2 ** 40 + 3 });
      assert.deepEqual(await store.read('one'), { position: 2 ** 40, lastAppended: 2 ** 40 + 3 });
      assert.deepEqual(await store.read('two'), { position: 0, lastAppended: 0 });
    });

    it('shows it to those who only look, and after a restart', async () => {
      await store.read('one');
      await store.write('one', { position: 7, lastAppended: 5 });
      assert.deepEqual(await store.peek('one'), { position: 7, lastAppended: 5 });
      await store.close();
      store = place.connect();
      assert.deepEqual(await store.peek('one'), { position: 7, lastAppended: 5 });
      assert.deepEqual(await store.read('one'), { position: 7, lastAppended: 5 });
    });
  });
}
