import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Collection, MongoClient, type MongoServerError } from 'mongodb';
import { FaultyMongoDbProxy, type MongoDbFault } from './faulty-mongodb-proxy.ts';
import { describeOnOwnMongoDb } from './mongodb-server.ts';

interface Note {
  readonly _id: string;
}

describeOnOwnMongoDb('FaultyMongoDbProxy', (mongoDb) => {
  let proxy: FaultyMongoDbProxy;
  let client: MongoClient;
  let notes: Collection<Note>;
  let direct: MongoClient;

  before(async () => {
    proxy = new FaultyMongoDbProxy(mongoDb.port);
    await proxy.listen();
    const url = mongoDb.newUrl();
    client = new MongoClient(proxy.through(url), {
      retryWrites: false,
      retryReads: false,
      minHeartbeatFrequencyMS: 50,
    });
    direct = new MongoClient(url);
    notes = client.db().collection('notes');
    await notes.insertOne({ _id: 'first' });
  });
  after(async () => {
    await client?.close();
    await direct?.close();
    await proxy?.close();
  });
  afterEach(() => proxy.heal());

  /** Inserts a note under a fault. @returns the error, and whether the note is stored */
  const insertUnder = async (fault: MongoDbFault) => {
    proxy.choose(({ command }) => (command === 'insert' ? fault : null));
    const _id = fault;
    const error = await notes.insertOne({ _id }).then(
      () => null,
      (thrown: MongoServerError) => thrown,
    );
    proxy.heal();
    const isStored = (await direct.db().collection<Note>('notes').findOne({ _id })) !== null;
    assert.equal(await notes.countDocuments({ _id }), isStored ? 1 : 0, 'the next command is answered');
    return { error, isStored };
  };

  it('answers for a primary that steps down, before and after a write is carried out', async () => {
    const refused = await insertUnder('refused');
    assert.deepEqual([refused.error?.code, refused.isStored], [10107, false]);
    assert.ok(refused.error?.hasErrorLabel('RetryableWriteError'));
    const interrupted = await insertUnder('interrupted');
    assert.deepEqual([interrupted.error?.code, interrupted.isStored], [11602, true]);
    const steppedDown = await insertUnder('stepped down');
    assert.deepEqual([steppedDown.error?.code, steppedDown.isStored], [189, true]);
    const unreplicated = await insertUnder('unreplicated');
    assert.deepEqual([unreplicated.error?.name, unreplicated.isStored], ['MongoWriteConcernError', true]);
  });

  it('cuts a connection before, within and after a command', async () => {
    for (const fault of ['cut before', 'cut in request'] as const) {
      const { error, isStored } = await insertUnder(fault);
      assert.deepEqual([error?.name, isStored], ['MongoNetworkError', false], fault);
    }
    for (const fault of ['cut in answer', 'cut after'] as const) {
      const { error, isStored } = await insertUnder(fault);
      assert.deepEqual([error?.name, isStored], ['MongoNetworkError', true], fault);
    }
  });

  it('holds an answer for five seconds', async () => {
    const began = performance.now();
    const { error, isStored } = await insertUnder('late');
    assert.deepEqual([error, isStored], [null, true]);
    assert.ok(performance.now() - began > 4_900);
    assert.equal(proxy.made.late, 1);
  });

  it('refuses commands while it has stepped down, and is a primary again afterwards', async () => {
    const stored = () => direct.db().collection<Note>('notes');
    proxy.stepDown(1_000, true);
    await assert.rejects(notes.insertOne({ _id: 'soon' }), { code: 10107 });
    const began = performance.now();
    // The driver waits for a primary.
    await notes.insertOne({ _id: 'later' });
    assert.ok(performance.now() - began > 500);
    assert.equal(await stored().findOne({ _id: 'soon' }), null);

    proxy.stepDown(300, false);
    await assert.rejects(notes.insertOne({ _id: 'soon' }), { code: 10107 });
    await assert.rejects(notes.findOne({ _id: 'later' }), { code: 13436 });
    await sleep(300);
    assert.deepEqual(await notes.findOne({ _id: 'later' }), { _id: 'later' });
  });
});
