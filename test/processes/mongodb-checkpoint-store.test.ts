import assert from 'node:assert/strict';
import { openMongoDbCheckpointStore } from '#processes/mongodb-checkpoint-store.ts';
import { Superseded } from '#src/superseded.ts';
import { Unavailable } from '#src/unavailable.ts';
import { describeOnMongoDb } from '#test/support/ferretdb.ts';

describeOnMongoDb('checkpoints of processes on MongoDB', (server) => {
  it('keeps the furthest position of each process over a restart', async () => {
    const url = server.newUrl();
    const first = openMongoDbCheckpointStore({ url });
    assert.equal(await first.read('one'), 0);
    await first.write('one', 7);
    await first.write('one', 5);
    assert.equal(await first.read('two'), 0);
    await first.close();
    await assert.rejects(first.read('one'), Unavailable);
    const second = openMongoDbCheckpointStore({ url });
    assert.deepEqual([await second.read('one'), await second.read('two')], [7, 0]);
    await second.close();
  });

  it('refuses a node once another with a newer lease has begun', async () => {
    const url = server.newUrl();
    const older = openMongoDbCheckpointStore({ url, fence: 1 });
    const newer = openMongoDbCheckpointStore({ url, fence: 2 });
    try {
      await older.read('one');
      await older.write('one', 3);
      assert.equal(await newer.read('one'), 3);
      await assert.rejects(older.write('one', 9), Superseded);
      await assert.rejects(older.read('one'), Superseded);
      await newer.write('one', 4);
      assert.equal(await newer.read('one'), 4);
    } finally {
      await older.close();
      await newer.close();
    }
  });
});
