import assert from 'node:assert/strict';
import { polledPositions } from '#app/stores/polled-positions.ts';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import { nothingRead } from '#domain/shared/log-mark.ts';
import { type ProcessesRecord, processesRecordKey } from '#positions/position-poll.ts';
import { encodeJson } from '#shared/json/json.ts';
import { organizationCreated } from '#test/support/events/organization-events.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { InMemoryRecordStore } from '#test/support/fakes/in-memory-record-store.ts';
import { eventually } from '#test/support/run/eventually.ts';

describe('polledPositions', () => {
  let store: AppendableEventStore;
  let records: InMemoryRecordStore;
  beforeEach(() => {
    store = new AppendableEventStore();
    records = new InMemoryRecordStore();
  });

  const stored = async (log: string) => {
    const record: ProcessesRecord = { log, token: 1, checkpoints: {}, effects: [], read: nothingRead, liveFrom: 0 };
    await records.put(processesRecordKey.kind, new Map([[processesRecordKey.key, encodeJson(record)]]));
  };
  const created = () => organizationCreated(new StreamWriter({ store }), 'one', true);

  it('returns the record of the processes with its first answer', async () => {
    await created();
    await stored(store.identity);
    assert.equal((await polledPositions(records, store.tail).poll()).processes?.log, store.identity);
  });

  it('returns no record of another log, and none while the log is empty', async () => {
    await stored('3/another');
    const source = polledPositions(records, store.tail);
    assert.equal((await source.poll()).processes, null);
    await created();
    assert.equal((await source.poll()).processes, null);
    await stored(store.identity);
    await eventually(async () => (await source.poll()).processes !== null, 'the log is known');
  });
});
