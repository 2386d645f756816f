import assert from 'node:assert/strict';
import { RecordSnapshots } from '#application/streams/stream-snapshots.ts';
import { EncodedJson } from '#shared/json/json.ts';
import { InMemoryRecordStore } from '#test/support/fakes/in-memory-record-store.ts';

const snapshot = { stream: 'flow-a', revision: 700, hash: 'one', stateVersion: 1, lines: ['{"a":[",\\n"]}'] };

describe('RecordSnapshots', () => {
  let records: InMemoryRecordStore;
  let snapshots: RecordSnapshots;
  beforeEach(() => {
    records = new InMemoryRecordStore();
    snapshots = new RecordSnapshots(records);
  });

  it('keeps the newest snapshot of each stream, with any number of lines', async () => {
    assert.equal(await snapshots.read('flow-a'), null);
    await snapshots.save(snapshot);
    assert.deepEqual(await snapshots.read('flow-a'), snapshot);
    const newer = { ...snapshot, revision: 5_000_000_000, hash: 'ü"\\', lines: ['{"ü":",\\n"}', '[1,\t2]', '"three"'] };
    await snapshots.save(newer);
    await snapshots.save({ ...snapshot, stream: 'flow-b' });
    assert.deepEqual(await snapshots.read('flow-a'), newer);
    assert.equal((await snapshots.read('flow-b'))?.hash, 'one');
  });

  it('stores a value that is JSON', async () => {
    await snapshots.save({ ...snapshot, lines: ['{"a":1}', '[2]'] });
    const head = { revision: 700, hash: 'one', stateVersion: 1 };
    assert.deepEqual(await records.get('snapshots', 'flow-a'), [head, { a: 1 }, [2]]);
  });

  it('takes a value that it cannot read for none', async () => {
    for (const text of ['null', '[]', '{"revision":1}', '[{"revision":1},\n{}]']) {
      await records.put('snapshots', new Map([['flow-a', new EncodedJson(text)]]));
      assert.equal(await snapshots.read('flow-a'), null, text);
    }
  });
});
