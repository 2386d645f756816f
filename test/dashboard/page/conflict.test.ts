import assert from 'node:assert/strict';
import { changesSince } from '#dashboard/page/parts/dialogs/conflict.ts';
import { HistoryEvent } from '#domain/history/record.ts';

const event = (revision: number): HistoryEvent => ({ ...HistoryEvent.example, revision });

describe('changesSince', () => {
  const history = [event(0), event(1), event(2)];

  it('returns the events that are newer than an ETag', () => {
    assert.deepEqual(changesSince(history, '"0"'), [event(1), event(2)]);
    assert.deepEqual(changesSince(history, '"2"'), []);
  });

  it('returns no events for an ETag without a revision', () => {
    for (const etag of [null, '', '"hash"']) assert.deepEqual(changesSince(history, etag), []);
  });
});
