import assert from 'node:assert/strict';
import type { HistoryEvent } from '#dashboard/page/api/records.ts';
import { changesSince } from '#dashboard/page/parts/dialogs/conflict.ts';

const event = (revision: number): HistoryEvent => ({
  revision,
  type: 'FlowRenamed',
  time: '2026-01-05T09:30:00.000Z',
  actor: null,
  requestId: null,
  summary: '',
  changes: null,
});

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
