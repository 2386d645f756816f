import assert from 'node:assert/strict';
import { nothingRead } from '#domain/shared/log-mark.ts';
import { decodeProcessesRecord } from '#positions/position-poll.ts';

describe('the record of the processes', () => {
  it('is read with a failure that 0.4 has stored without the stream, and that 0.5.0 has carried on', () => {
    const failure = { eventId: 'event-1', eventType: 'ProjectCreated', position: 7, message: 'It failed.' };
    const checkpoint = { position: 6, lastAppended: 0, failure, waitingFor: null };
    const record = { log: 'log', token: 1, checkpoints: { one: checkpoint }, effects: [], liveFrom: 0 };
    const read = JSON.parse(JSON.stringify({ ...record, read: nothingRead }));
    assert.deepEqual(decodeProcessesRecord(read), read);
  });
});
