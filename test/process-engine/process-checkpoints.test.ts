import assert from 'node:assert/strict';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { nothingRead } from '#domain/shared/log-mark.ts';
import { decodeProcessesRecord, type ProcessesRecord, processesRecordKey } from '#positions/position-poll.ts';
import { CheckpointWriter, ProcessCheckpoints } from '#process-engine/process-checkpoints.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { InMemoryRecordStore } from '#test/support/fakes/in-memory-record-store.ts';

const failure = {
  eventId: 'event-1',
  eventType: 'Seen',
  position: 2 ** 40,
  message: 'It cannot be read.',
  stream: 'one-1',
};
const record: ProcessesRecord = {
  log: '3/first',
  token: 4,
  checkpoints: {
    one: { position: 2 ** 40 - 1, lastAppended: 7, failure, waitingFor: null },
    two: { position: 9, lastAppended: 0, failure: null, waitingFor: 'the read model flows' },
  },
  effects: [{ process: 'one', cause: 6, appended: 7 }],
  read: nothingRead,
  liveFrom: 0,
};

describe('ProcessCheckpoints', () => {
  let records: InMemoryRecordStore;
  let checkpoints: ProcessCheckpoints;
  beforeEach(() => {
    records = new InMemoryRecordStore();
    checkpoints = new ProcessCheckpoints(records);
  });

  it('has no checkpoint at first', async () => {
    assert.deepEqual(await checkpoints.take(1, '3/first'), null);
    assert.equal(await checkpoints.read(), null);
  });

  it('stores the record of all processes, for the next holder and for other nodes', async () => {
    await checkpoints.take(4, '3/first');
    await checkpoints.save(4, record);
    const other = new ProcessCheckpoints(records);
    assert.deepEqual(await other.read(), record);
    assert.deepEqual(await other.take(5, '3/first'), record);
  });

  it('returns no checkpoint of another log, and keeps the record until the next save', async () => {
    await checkpoints.save(4, record);
    assert.deepEqual(await checkpoints.take(5, '3/another'), null);
    assert.deepEqual(await checkpoints.read(), record);
    await checkpoints.save(5, { ...record, log: '3/another', checkpoints: {} });
    assert.deepEqual(await checkpoints.take(5, '3/first'), null);
  });

  it('refuses a node with an older token after a takeover', async () => {
    await checkpoints.take(4, '3/first');
    await checkpoints.take(5, '3/first');
    await assert.rejects(checkpoints.save(4, record), FencedError);
    await assert.rejects(checkpoints.take(4, '3/first'), FencedError);
    await checkpoints.save(5, record);
    assert.equal((await checkpoints.read())?.token, 5, 'the token is that of the writer');
  });

  it('decodes the value of the record, and nothing else', async () => {
    await checkpoints.save(4, record);
    const [value = null] = await records.read([processesRecordKey]);
    assert.deepEqual(decodeProcessesRecord(value), record);
    for (const other of [null, 1, {}, { ...record, checkpoints: { one: { position: 1 } } } as never])
      assert.equal(decodeProcessesRecord(other), null);
  });
});

describe('CheckpointWriter', () => {
  it('ends a wait that begins after the term has ended, while the last write is still under way', async () => {
    const stopping = new AbortController();
    const { promise: stored, resolve: store } = Promise.withResolvers<void>();
    const writer = new CheckpointWriter({
      write: () => stored,
      onFenced: () => undefined,
      log: pino({ level: 'silent' }),
      signal: stopping.signal,
    });
    writer.request();
    await setImmediate();
    stopping.abort();
    // The append of a reaction has succeeded meanwhile.
    const saved = writer.saved();
    store();
    assert.equal(await Promise.race([saved.then(() => 'saved'), sleep(1_000, 'never', { ref: false })]), 'saved');
  });
});
