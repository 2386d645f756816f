import assert from 'node:assert/strict';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { DocumentBuffer } from '#projection-engine/document-buffer.ts';
import { type AnyProjection, ignored, projection } from '#projection-engine/projection.ts';
import { testMetadata } from '#test/support/fakes/in-memory-event-store.ts';
import { givenEvents } from '#test/support/harness/projection-harness.ts';

interface Item {
  readonly group: string;
  readonly times: number;
}

interface ItemEvents {
  readonly Put: { readonly id: string; readonly group: string };
  readonly Linked: { readonly ids: ReadonlyArray<string> };
  readonly GroupDeleted: { readonly group: string };
  /** Removes a group and begins it anew, in one event. */
  readonly GroupReplaced: { readonly id: string; readonly group: string };
  readonly Seen: { readonly id: string };
}

const items: AnyProjection = projection<Item, ItemEvents>({
  name: 'items',
  version: 1,
  keys: ({ data }) => ('ids' in data ? data.ids : 'id' in data ? [data.id] : []),
  on: {
    Put: (item, { data }) => ({ group: data.group, times: (item?.times ?? 0) + 1 }),
    Linked: (item, _, key) => {
      if (key === 'broken') throw new Error('It cannot be linked.');
      return item && { ...item, times: item.times + 1 };
    },
    GroupDeleted: { removeWhere: ({ data }) => ({ group: data.group }) },
    GroupReplaced: {
      removeWhere: ({ data }) => ({ group: data.group }),
      handle: (item, { data }) => ({ group: data.group, times: item === null ? 100 : -1 }),
    },
    Seen: ignored,
  },
  indexes: [['group']],
});

const put = (id: string, group: string) => ({ stream: id, type: 'Put', data: { id, group } });
const groupDeleted = (group: string) => ({ stream: group, type: 'GroupDeleted', data: { group } });

describe('fold', () => {
  it('makes a document of its events, in order', () => {
    givenEvents(put('a', 'g'), put('a', 'h'))
      .project(items)
      .then({ a: { group: 'h', times: 2 } });
  });

  it('removes what fits at that moment, and nothing that has moved away before', () => {
    givenEvents(
      put('a', 'g'),
      put('b', 'g'),
      put('b', 'h'),
      groupDeleted('g'),
      put('c', 'g'),
      put('b', 'g'),
      put('d', 'h'),
      groupDeleted('h'),
    )
      .project(items)
      .then({ c: { group: 'g', times: 1 }, b: { group: 'g', times: 3 } });
  });

  it('removes before it makes, when one event does both', () => {
    const replaced = { stream: 'a', type: 'GroupReplaced', data: { id: 'a', group: 'g' } };
    givenEvents(put('a', 'g'), put('b', 'g'), replaced)
      .project(items)
      .then({ a: { group: 'g', times: 100 } });
  });

  it('takes an event wholly or not at all', () => {
    const fold = new DocumentBuffer(items, { maxDocuments: 10, maxBytes: 1000 });
    fold.remember('a', null);
    fold.remember('broken', null);
    fold.apply(recorded(1, put('a', 'g')), ['a']);
    const linked = recorded(2, { type: 'Linked', data: { ids: ['a', 'broken'] } });
    assert.throws(() => fold.apply(linked, fold.keys(linked)), /cannot be linked/);
    const [write] = fold.writes();
    assert.deepEqual(write?.kind === 'put' && write.value, { group: 'g', times: 1 });
  });

  it('passes over a document that holds the event already', () => {
    const fold = new DocumentBuffer(items, { maxDocuments: 10, maxBytes: 1000 });
    fold.remember('a', { order: 1, position: 5, value: { group: 'g', times: 1 }, bytes: 10 });
    fold.apply(recorded(5, put('a', 'h')), ['a']);
    assert.deepEqual(fold.writes(), []);
  });

  it('lets a document that outlived a removal stand after a replayed one', () => {
    const fold = new DocumentBuffer(items, { maxDocuments: 10, maxBytes: 1000 });
    fold.remember('a', { order: 1, position: 1, value: { group: 'g', times: 1 }, bytes: 10 });
    fold.apply(recorded(4, put('a', 'h')), ['a']);
    fold.apply(recorded(5, { type: 'GroupDeleted', data: { group: 'g' } }), []);
    const [removal, write] = fold.writes();
    assert.deepEqual([removal?.kind, write?.kind, write?.position], ['delete-where', 'put', 5]);
  });

  it('does not take a document for there that was removed and is not removed in the store yet', () => {
    const fold = new DocumentBuffer(items, { maxDocuments: 10, maxBytes: 1000 });
    fold.apply(recorded(5, { type: 'GroupDeleted', data: { group: 'g' } }), []);
    fold.remember('gone', { order: 1, position: 4, value: { group: 'g', times: 7 }, bytes: 10 });
    fold.remember('other', { order: 1, position: 4, value: { group: 'h', times: 7 }, bytes: 10 });
    fold.remember('later', { order: 1, position: 6, value: { group: 'g', times: 7 }, bytes: 10 });
    for (const id of ['gone', 'other', 'later']) fold.apply(recorded(8, put(id, 'k')), [id]);
    const times = fold.writes().map((write) => write.kind === 'put' && Reflect.get(write.value, 'times'));
    assert.deepEqual(times, [false, 1, 8, 8]);
  });

  it('forgets what is beyond its limits, the least used first, only once it is stored', () => {
    const fold = new DocumentBuffer(items, { maxDocuments: 2, maxBytes: 1000 });
    for (const [index, id] of ['a', 'b', 'c'].entries()) {
      fold.remember(id, null);
      fold.apply(recorded(index + 1, put(id, 'g')), [id]);
    }
    fold.apply(recorded(4, put('a', 'g')), ['a']);
    assert.equal(fold.writes().length, 3);
    fold.committed();
    assert.deepEqual(
      ['a', 'b', 'c'].map((id) => fold.knows(id)),
      [true, false, true],
    );
    assert.deepEqual(fold.writes(), []);
    fold.limit({ maxDocuments: 100, maxBytes: 0 });
    fold.committed();
    assert.equal(fold.knows('a'), false);
  });
});

function recorded(position: number, { type, data }: { readonly type: string; readonly data: object }): RecordedEvent {
  return {
    position,
    stream: 'items',
    revision: position,
    id: `e${position}`,
    type,
    data: data as RecordedEvent['data'],
    metadata: testMetadata,
  };
}
