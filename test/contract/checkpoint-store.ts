import assert from 'node:assert/strict';
import { type CheckpointStore, startOfLog, watchedCheckpoint } from '#process-engine/checkpoints/checkpoint-store.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';

const log = '3/first';
const other = '3/another';

/**
 * Declares the tests of every checkpoint store.
 * @param open creates an empty database that can be opened several times
 */
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

    it('gives position 0 to a process without a checkpoint', async () => {
      assert.deepEqual(await store.peek('one', log), { position: 0, lastAppended: 0, failure: null });
      assert.deepEqual(await store.read('one', log), { position: 0, lastAppended: 0 });
      assert.deepEqual(await store.peek('one', log), { position: 0, lastAppended: 0, failure: null });
    });

    it('stores a checkpoint for each process', async () => {
      await store.read('one', log);
      await store.write('one', log, { position: 7, lastAppended: 0 });
      await store.write('one', log, { position: 2 ** 40, lastAppended: 2 ** 40 + 3 });
      assert.deepEqual(await store.read('one', log), { position: 2 ** 40, lastAppended: 2 ** 40 + 3 });
      assert.deepEqual(await store.read('two', log), { position: 0, lastAppended: 0 });
    });

    it('shows a checkpoint to other readers, and after a restart', async () => {
      await store.read('one', log);
      await store.write('one', log, { position: 7, lastAppended: 5 });
      assert.deepEqual(await store.peek('one', log), { position: 7, lastAppended: 5, failure: null });
      await store.close();
      store = place.connect();
      assert.deepEqual(await store.peek('one', log), { position: 7, lastAppended: 5, failure: null });
      assert.deepEqual(await store.read('one', log), { position: 7, lastAppended: 5 });
    });

    it('keeps no checkpoint for another log', async () => {
      await store.read('one', log);
      await store.write('one', log, { position: 7, lastAppended: 5 });
      assert.deepEqual(await store.peek('one', other), watchedCheckpoint(startOfLog, null));
      assert.deepEqual(
        await store.peek('one', log),
        { position: 7, lastAppended: 5, failure: null },
        'peek does not change it',
      );
      assert.deepEqual(await store.read('one', other), startOfLog);
      assert.deepEqual(await store.peek('one', other), watchedCheckpoint(startOfLog, null));
      assert.deepEqual(await store.peek('one', log), watchedCheckpoint(startOfLog, null));
      await store.write('one', other, { position: 2, lastAppended: 1 });
      assert.deepEqual(await store.read('one', other), { position: 2, lastAppended: 1 });
      assert.deepEqual(await store.read('one', log), startOfLog, 'the checkpoint of the first log is gone');
    });

    it('rejects a late write for another log', async () => {
      await store.read('one', log);
      await store.write('one', log, { position: 7, lastAppended: 5 });
      await store.read('one', other);
      await assert.rejects(store.write('one', log, { position: 8, lastAppended: 8 }), FencedError);
      await assert.rejects(store.reset('one', log), FencedError);
      await store.write('one', other, { position: 1, lastAppended: 0 });
      assert.deepEqual(await store.read('one', other), { position: 1, lastAppended: 0 });
    });

    it('stores the event at which a process has stopped until the process has passed it', async () => {
      const failure = { eventId: 'event-1', eventType: 'Seen', position: 2 ** 40, message: 'It cannot be read.' };
      const failureOf = async (process: string) => (await store.peek(process, log)).failure;
      for (const each of ['one', 'two']) {
        await store.read(each, log);
        await store.write(each, log, { position: 7, lastAppended: 5 });
      }
      await store.writeFailure('one', log, failure);
      assert.deepEqual(await store.peek('one', log), { position: 7, lastAppended: 5, failure });
      assert.equal(await failureOf('two'), null);
      await store.close();
      store = place.connect();
      assert.deepEqual(await store.read('one', log), { position: 7, lastAppended: 5 });
      await store.write('one', log, { position: 8, lastAppended: 5 });
      assert.deepEqual(await failureOf('one'), failure, 'a checkpoint before the event leaves it');
      await store.writeFailure('one', log, null);
      assert.equal(await failureOf('one'), null);
      await store.writeFailure('one', log, failure);
      await store.write('one', log, { position: failure.position, lastAppended: 5 });
      assert.equal(await failureOf('one'), null);
    });

    it('shows no failure for another log or after a reset', async () => {
      const failure = { eventId: 'event-1', eventType: 'Seen', position: 9, message: 'It cannot be read.' };
      await store.read('one', log);
      await store.writeFailure('one', log, failure);
      assert.equal((await store.peek('one', other)).failure, null);
      await store.reset('one', log);
      assert.equal((await store.peek('one', log)).failure, null);
      await store.writeFailure('one', log, failure);
      await store.read('one', other);
      assert.equal((await store.peek('one', other)).failure, null);
      await assert.rejects(store.writeFailure('one', log, failure), FencedError);
    });

    it('resets the checkpoint of one process only', async () => {
      for (const each of ['one', 'two']) {
        await store.read(each, log);
        await store.write(each, log, { position: 7, lastAppended: 5 });
      }
      await store.reset('one', log);
      assert.deepEqual(await store.peek('one', log), watchedCheckpoint(startOfLog, null));
      assert.deepEqual(await store.read('two', log), { position: 7, lastAppended: 5 });
      await store.write('one', log, { position: 2, lastAppended: 1 });
      assert.deepEqual(await store.read('one', log), { position: 2, lastAppended: 1 });
    });
  });
}
