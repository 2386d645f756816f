import assert from 'node:assert/strict';
import { flow } from '#domain/flow/flow.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { emptyStream, foldStream, requestAnswered } from '#event-store/stream-state.ts';
import { begunFlow, versionCreated } from '#test/support/flow-events.ts';
import { beginning, recorded } from '#test/support/recorded.ts';
import { ids, tenants } from '#test/support/story.ts';

const stream = `flow-${ids.flow}`;
const answered = { type: requestAnswered, data: {} };
const hour = 60 * 60 * 1000;

/** The n-th event with a remembered request, so many milliseconds after the first. */
function remembering(event: RecordedEvent, key: string, body: string, after = 0): RecordedEvent {
  const time = new Date(beginning + after).toISOString();
  return { ...event, metadata: { ...event.metadata, time, idempotency: { key, body } } };
}

describe('stream state', () => {
  it('is empty at first', () => {
    const { revision, resourceRevision, tenant, hash, remembered, state } = emptyStream(flow);
    assert.deepEqual([revision, resourceRevision, tenant, hash, remembered.size, state], [-1, -1, null, null, 0, null]);
  });

  it('comes to the same whether events are folded at once or one by one', () => {
    const events = recorded(stream, [...begunFlow(), versionCreated(2), answered]);
    const atOnce = foldStream(flow, emptyStream(flow), events);
    const oneByOne = events.reduce((state, event) => foldStream(flow, state, [event]), emptyStream(flow));
    assert.deepEqual(oneByOne, atOnce);
    assert.equal(foldStream(flow, atOnce, []), atOnce);
  });

  it('has the tenant of the first event, and revision, hash and time of the last', () => {
    const events = recorded(stream, begunFlow());
    const state = foldStream(flow, emptyStream(flow), events);
    const last = events.at(-1);
    assert.deepEqual(state.tenant, tenants.project);
    assert.deepEqual([state.revision, state.hash, state.time], [2, last?.metadata.hash, last?.metadata.time]);
  });

  it('moves the ETag by no request that was only answered', () => {
    const state = foldStream(flow, emptyStream(flow), recorded(stream, [...begunFlow(), answered]));
    assert.deepEqual([state.revision, state.resourceRevision], [3, 2]);
  });

  it('remembers a request with the first and the last of its events', () => {
    const [first, ...others] = recorded(stream, [...begunFlow(), answered]);
    assert.ok(first !== undefined);
    const events = [
      remembering(first, 'create', 'body'),
      ...others.map((event) => remembering(event, event.revision < 3 ? 'create' : 'other', 'body')),
    ];
    const { remembered } = foldStream(flow, emptyStream(flow), events);
    assert.deepEqual([...remembered.keys()], ['create', 'other']);
    assert.equal(remembered.get('create')?.firstRevision, 0);
    assert.equal(remembered.get('create')?.lastRevision, 2);
    assert.equal(remembered.get('other')?.firstRevision, 3);
    assert.equal(remembered.get('other')?.bodyHash, 'body');
  });

  it('forgets it after 24 hours, not before', () => {
    const told = recorded(stream, [...begunFlow(), versionCreated(2)]);
    const foldedAfter = (milliseconds: number) => {
      const events = told.map((event) =>
        remembering(event, event.revision < 3 ? 'create' : 'later', 'body', event.revision < 3 ? 0 : milliseconds),
      );
      return [...foldStream(flow, emptyStream(flow), events).remembered.keys()];
    };
    assert.deepEqual(foldedAfter(24 * hour), ['create', 'later']);
    assert.deepEqual(foldedAfter(24 * hour + 1), ['later']);
  });
});
