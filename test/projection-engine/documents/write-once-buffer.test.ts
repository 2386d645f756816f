import assert from 'node:assert/strict';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { WriteOnceBuffer } from '#projection-engine/documents/write-once-buffer.ts';
import { type AnyProjection, ignored, isWriteOnce, projection } from '#projection-engine/projection.ts';
import { testMetadata } from '#test/support/fakes/in-memory-event-store.ts';
import { givenEvents } from '#test/support/harness/projection-harness.ts';

interface EntryEvents {
  readonly Noted: { readonly ids: ReadonlyArray<string>; readonly text: string };
  readonly Seen: object;
}

const entries: AnyProjection = projection<{ readonly text: string; readonly id: string }, EntryEvents>({
  name: 'entries',
  version: 1,
  keys: ({ data }) => ('ids' in data ? data.ids : []),
  on: {
    Noted: {
      create: ({ data }, id) => {
        if (id === 'broken') throw new Error('It cannot be noted.');
        return { id, text: data.text };
      },
    },
    Seen: ignored,
  },
  indexes: [],
});

const limits = { maxDocuments: 10, maxBytes: 1000 };

describe('WriteOnceBuffer', () => {
  it('is meant for projections whose every event creates its documents', () => {
    assert.equal(isWriteOnce(entries), true);
    assert.equal(isWriteOnce({ ...entries, on: { ...entries.on, Seen: () => null } }), false);
    assert.equal(isWriteOnce({ ...entries, on: { ...entries.on, Seen: { removeWhere: () => ({}) } } }), false);
  });

  it('writes each document of an event once, at the position of its event', () => {
    const buffer = new WriteOnceBuffer(entries, limits);
    const event = noted(7, ['a', 'b', 'a'], 'x');
    buffer.apply(event, buffer.keys(event));
    const place = { kind: 'put', order: 7, position: 7 };
    assert.deepEqual(buffer.writes(), [
      { ...place, id: 'a', value: { id: 'a', text: 'x' }, body: '{"id":"a","text":"x"}' },
      { ...place, id: 'b', value: { id: 'b', text: 'x' }, body: '{"id":"b","text":"x"}' },
    ]);
  });

  it('makes the same documents as a projection that might change them', () => {
    const stories = [noted(1, ['a'], 'x'), noted(2, ['b', 'c'], '{"ü"}')];
    const buffer = new WriteOnceBuffer(entries, limits);
    for (const event of stories) buffer.apply(event, buffer.keys(event));
    const written = buffer.writes().map((write) => (write.kind === 'put' ? [write.id, JSON.parse(write.body)] : []));
    const folded = givenEvents(...stories.map(({ stream, type, data }) => ({ stream, type, data }))).project(entries);
    assert.deepEqual(Object.fromEntries(written), folded.documents);
  });

  it('writes all documents of an event or none', () => {
    const buffer = new WriteOnceBuffer(entries, limits);
    assert.throws(() => buffer.apply(noted(1, ['a', 'broken'], 'x'), ['a', 'broken']), /cannot be noted/);
    assert.deepEqual(buffer.writes(), []);
  });

  it('is due for a commit with its first document, and empty after it', () => {
    const buffer = new WriteOnceBuffer(entries, limits);
    assert.equal(buffer.due, false);
    buffer.apply(noted(1, ['a'], 'x'.repeat(100)), ['a']);
    assert.deepEqual([buffer.due, buffer.full], [true, true]);
    buffer.committed();
    assert.deepEqual([buffer.due, buffer.full, buffer.writes().length], [false, false, 0]);
  });
});

function noted(position: number, ids: ReadonlyArray<string>, text: string): RecordedEvent {
  return {
    position,
    stream: 'entries',
    revision: position,
    id: `e${position}`,
    type: 'Noted',
    data: { ids: [...ids], text },
    metadata: testMetadata,
  };
}
