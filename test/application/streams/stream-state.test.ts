import assert from 'node:assert/strict';
import type { RememberedRequests } from '#application/streams/idempotency.ts';
import { emptyStream, foldStream, requestAnswered } from '#application/streams/stream-state.ts';
import { flow } from '#domain/flow/flow.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { begunFlow, versionCreated } from '#test/support/events/flow-events.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { beginning, recorded } from '#test/support/harness/recorded-events.ts';

const stream = `flow-${ids.flow}`;
const answered = { type: requestAnswered, data: {} };
const hour = 60 * 60 * 1000;

const keysOf = (remembered: RememberedRequests) => [...remembered].map(({ key }) => key);

/** Returns the event with an idempotency key, dated `after` milliseconds after the first. */
function remembering(event: RecordedEvent, key: string, body: string, after = 0): RecordedEvent {
  const time = new Date(beginning + after).toISOString();
  return { ...event, metadata: { ...event.metadata, time, idempotency: { key, body } } };
}

describe('foldStream', () => {
  it('begins with an empty stream state', () => {
    const { revision, resourceRevision, tenant, hash, remembered, state } = emptyStream(flow);
    assert.deepEqual(
      [revision, resourceRevision, tenant, hash, [...remembered], state],
      [-1, -1, null, null, [], null],
    );
  });

  it('gives the same state whether events are folded together or one by one', () => {
    const events = recorded(stream, [...begunFlow(), versionCreated(2), answered]);
    const atOnce = foldStream(flow, emptyStream(flow), events);
    const oneByOne = events.reduce((state, event) => foldStream(flow, state, [event]), emptyStream(flow));
    assert.deepEqual(oneByOne, atOnce);
    assert.equal(foldStream(flow, atOnce, []), atOnce);
  });

  it('takes the tenant from the first event, and revision, hash and time from the last', () => {
    const events = recorded(stream, begunFlow());
    const state = foldStream(flow, emptyStream(flow), events);
    const last = events.at(-1);
    assert.deepEqual(state.tenant, tenants.project);
    assert.deepEqual([state.revision, state.hash, state.time], [2, last?.metadata.hash, last?.metadata.time]);
  });

  it('does not change the resource revision for a remembered request without events', () => {
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
    assert.deepEqual(keysOf(remembered), ['create', 'other']);
    assert.equal(remembered.get('create')?.firstRevision, 0);
    assert.equal(remembered.get('create')?.lastRevision, 2);
    assert.equal(remembered.get('other')?.firstRevision, 3);
    assert.equal(remembered.get('other')?.bodyHash, 'body');
  });

  it('forgets a request after 24 hours and not before', () => {
    const history = recorded(stream, [...begunFlow(), versionCreated(2)]);
    const foldedAfter = (milliseconds: number) => {
      const events = history.map((event) =>
        remembering(event, event.revision < 3 ? 'create' : 'later', 'body', event.revision < 3 ? 0 : milliseconds),
      );
      return keysOf(foldStream(flow, emptyStream(flow), events).remembered);
    };
    assert.deepEqual(foldedAfter(24 * hour), ['create', 'later']);
    assert.deepEqual(foldedAfter(24 * hour + 1), ['later']);
  });

  it('forgets a request on time although expired requests are removed a few at a time', () => {
    const answers = recorded(stream, Array(1_002).fill(answered));
    const events = answers.map((event) =>
      remembering(event, `key ${event.revision}`, 'body', event.revision < 1_000 ? event.revision : 24 * hour + 1_000),
    );
    const before = foldStream(flow, emptyStream(flow), events.slice(0, 1_000));
    const { remembered } = foldStream(flow, before, events.slice(1_000));
    assert.equal(remembered.get('key 999'), undefined);
    assert.deepEqual(keysOf(remembered), ['key 1000', 'key 1001']);
    assert.ok(remembered.held > 900 && remembered.held < 1_000);
  });

  it('remembers a key again that is reused after it expired', () => {
    const events = recorded(stream, Array(9).fill(answered)).map((event) =>
      remembering(event, event.revision === 8 ? 'key 7' : `key ${event.revision}`, 'body', event.revision * 4 * hour),
    );
    const { remembered } = foldStream(flow, emptyStream(flow), events);
    assert.deepEqual(keysOf(remembered), ['key 2', 'key 3', 'key 4', 'key 5', 'key 6', 'key 7']);
    const late = remembering(
      recorded(stream, Array(10).fill(answered))[9] as RecordedEvent,
      'key 1',
      'other',
      33 * hour,
    );
    const after = foldStream(flow, foldStream(flow, emptyStream(flow), events), [late]);
    assert.deepEqual(
      [after.remembered.get('key 1')?.firstRevision, after.remembered.get('key 1')?.bodyHash],
      [9, 'other'],
    );
  });
});
