import assert from 'node:assert/strict';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { DocumentBuffer } from '#projection-engine/documents/document-buffer.ts';
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
  /** Removes a group and puts its first document again in one event. */
  readonly GroupReplaced: { readonly id: string; readonly group: string };
  readonly Made: { readonly id: string; readonly group: string };
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
    Made: {
      create: ({ data }) => {
        if (data.group === 'broken') throw new Error('It cannot be made.');
        return { group: data.group, times: 1 };
      },
    },
    Seen: ignored,
  },
  indexes: [['group']],
});

const put = (id: string, group: string) => ({ stream: id, type: 'Put', data: { id, group } });
const groupDeleted = (group: string) => ({ stream: group, type: 'GroupDeleted', data: { group } });

describe('DocumentBuffer', () => {
  it('applies the events of one document in order', () => {
    givenEvents(put('a', 'g'), put('a', 'h'))
      .project(items)
      .then({ a: { group: 'h', times: 2 } });
  });

  it('removes the documents that match at that moment, and none that left the group before', () => {
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

  it('removes documents before it creates one, when one event does both', () => {
    const replaced = { stream: 'a', type: 'GroupReplaced', data: { id: 'a', group: 'g' } };
    givenEvents(put('a', 'g'), put('b', 'g'), replaced)
      .project(items)
      .then({ a: { group: 'g', times: 100 } });
  });

  it('applies an event to all of its documents or to none', () => {
    const buffer = new DocumentBuffer(items, { maxDocuments: 10, maxBytes: 1000 });
    buffer.remember('a', null);
    buffer.remember('broken', null);
    buffer.apply(recorded(1, put('a', 'g')), ['a']);
    const linked = recorded(2, { type: 'Linked', data: { ids: ['a', 'broken'] } });
    assert.throws(() => buffer.apply(linked, buffer.keys(linked)), /cannot be linked/);
    const [write] = buffer.writes();
    assert.deepEqual(write?.kind === 'put' && write.value, { group: 'g', times: 1 });
  });

  it('creates a document that was not read, and applies later events to it', () => {
    const buffer = new DocumentBuffer(items, { maxDocuments: 10, maxBytes: 1000 });
    const made = recorded(3, { type: 'Made', data: { id: 'a', group: 'g' } });
    assert.equal(buffer.creates(made), true);
    buffer.apply(made, ['a']);
    buffer.apply(recorded(4, put('a', 'h')), ['a']);
    const [write] = buffer.writes();
    assert.deepEqual(write?.kind === 'put' && [write.order, write.position, write.value], [
      3,
      4,
      { group: 'h', times: 2 },
    ]);
  });

  it('applies an event once to a document that it names twice, also when it is tried again', () => {
    const buffer = new DocumentBuffer(items, { maxDocuments: 10, maxBytes: 1000 });
    buffer.remember('a', { order: 1, position: 1, value: { group: 'g', times: 1 }, bytes: 10 });
    buffer.remember('broken', { order: 1, position: 1, value: { group: 'g', times: 1 }, bytes: 10 });
    const linked = recorded(2, { type: 'Linked', data: { ids: ['a', 'a', 'broken'] } });
    assert.throws(() => buffer.apply(linked, ['a', 'a', 'broken']), /cannot be linked/);
    buffer.apply(linked, ['a', 'a']);
    const [write] = buffer.writes();
    assert.deepEqual(write?.kind === 'put' && write.value, { group: 'g', times: 2 });
  });

  it('finds a document by the group that an event gave it, after a removal has asked for groups', () => {
    givenEvents(put('a', 'g'), groupDeleted('x'), put('a', 'h'), put('b', 'g'), put('b', 'g'), groupDeleted('g'))
      .project(items)
      .then({ a: { group: 'h', times: 2 } });
  });

  it('knows that a document is absent whose creation failed', () => {
    const buffer = new DocumentBuffer(items, { maxDocuments: 10, maxBytes: 1000 });
    const made = recorded(3, { type: 'Made', data: { id: 'a', group: 'broken' } });
    assert.throws(() => buffer.apply(made, ['a']), /cannot be made/);
    assert.equal(buffer.knows('a'), true);
    assert.deepEqual(buffer.writes(), []);
  });

  it('skips a document that already holds the event', () => {
    const buffer = new DocumentBuffer(items, { maxDocuments: 10, maxBytes: 1000 });
    buffer.remember('a', { order: 1, position: 5, value: { group: 'g', times: 1 }, bytes: 10 });
    buffer.apply(recorded(5, put('a', 'h')), ['a']);
    assert.deepEqual(buffer.writes(), []);
  });

  it('keeps a document that was put after a removal when the removal is replayed', () => {
    const buffer = new DocumentBuffer(items, { maxDocuments: 10, maxBytes: 1000 });
    buffer.remember('a', { order: 1, position: 1, value: { group: 'g', times: 1 }, bytes: 10 });
    buffer.apply(recorded(4, put('a', 'h')), ['a']);
    buffer.apply(recorded(5, { type: 'GroupDeleted', data: { group: 'g' } }), []);
    const [removal, write] = buffer.writes();
    assert.deepEqual([removal?.kind, write?.kind, write?.position], ['delete-where', 'put', 5]);
  });

  it('treats a document as absent when its removal is not yet in the store', () => {
    const buffer = new DocumentBuffer(items, { maxDocuments: 10, maxBytes: 1000 });
    buffer.apply(recorded(5, { type: 'GroupDeleted', data: { group: 'g' } }), []);
    buffer.remember('gone', { order: 1, position: 4, value: { group: 'g', times: 7 }, bytes: 10 });
    buffer.remember('other', { order: 1, position: 4, value: { group: 'h', times: 7 }, bytes: 10 });
    buffer.remember('later', { order: 1, position: 6, value: { group: 'g', times: 7 }, bytes: 10 });
    for (const id of ['gone', 'other', 'later']) buffer.apply(recorded(8, put(id, 'k')), [id]);
    const times = buffer.writes().map((write) => write.kind === 'put' && Reflect.get(write.value, 'times'));
    assert.deepEqual(times, [false, 1, 8, 8]);
  });

  it('evicts the least recently used documents beyond its limits, and only once they are stored', () => {
    const buffer = new DocumentBuffer(items, { maxDocuments: 2, maxBytes: 1000 });
    for (const [index, id] of ['a', 'b', 'c'].entries()) {
      buffer.remember(id, null);
      buffer.apply(recorded(index + 1, put(id, 'g')), [id]);
    }
    buffer.apply(recorded(4, put('a', 'g')), ['a']);
    assert.equal(buffer.writes().length, 3);
    buffer.committed();
    assert.deepEqual(
      ['a', 'b', 'c'].map((id) => buffer.knows(id)),
      [true, false, true],
    );
    assert.deepEqual(buffer.writes(), []);
    buffer.limit({ maxDocuments: 100, maxBytes: 0 });
    buffer.committed();
    assert.equal(buffer.knows('a'), false);
  });

  it('keeps more documents, up to its limit, when many that events touch are read from the store', () => {
    const buffer = new DocumentBuffer(items, { maxDocuments: 30, firstDocuments: 10, maxBytes: 1_000_000 });
    let position = 0;
    /** Touches documents in turn, and returns how many of them were read from the store. */
    const readsOf = (documents: number) => {
      const ids = Array.from({ length: documents }, (_, index) => `d${index}`);
      const missing = ids.filter((id) => !buffer.knows(id));
      for (const id of missing) {
        const stored = { order: 1, position: 0, value: { group: 'g', times: 1 }, bytes: 10 };
        buffer.remember(id, position === 0 ? null : stored);
      }
      for (const id of ids) {
        position += 1;
        buffer.apply(recorded(position, put(id, 'g')), [id]);
      }
      buffer.writes();
      buffer.committed();
      return missing.length;
    };
    assert.deepEqual([readsOf(25), readsOf(10), readsOf(25), readsOf(25)], [25, 10, 5, 0]);
    assert.deepEqual([readsOf(60), readsOf(60)], [35, 30]);
  });

  for (const asTexts of [false, true]) {
    it(`changes and removes documents of earlier commits that are kept as ${asTexts ? 'texts' : 'values'}`, () => {
      const buffer = new DocumentBuffer(items, { maxDocuments: 10, maxBytes: 1000, asTexts });
      const valuesAfter = (position: number, event: Parameters<typeof recorded>[1]) => {
        const keys = buffer.keys(recorded(position, event));
        for (const key of keys) if (!buffer.knows(key)) buffer.remember(key, null);
        buffer.apply(recorded(position, event), keys);
        const writes = buffer.writes();
        buffer.committed();
        return writes.map((write) => (write.kind === 'put' ? [write.id, write.value] : write.kind));
      };
      assert.deepEqual(valuesAfter(1, put('a', 'g')), [['a', { group: 'g', times: 1 }]]);
      assert.deepEqual(valuesAfter(2, put('a', 'g')), [['a', { group: 'g', times: 2 }]]);
      assert.deepEqual(valuesAfter(3, put('b', 'h')), [['b', { group: 'h', times: 1 }]]);
      assert.deepEqual(valuesAfter(4, groupDeleted('g')), ['delete-where']);
      assert.deepEqual(valuesAfter(5, put('a', 'k')), [['a', { group: 'k', times: 1 }]]);
      assert.deepEqual(valuesAfter(6, put('b', 'h')), [['b', { group: 'h', times: 2 }]]);
    });
  }

  it('keeps more documents in the same memory when it keeps them as texts', () => {
    const known = [false, true].map((asTexts) => {
      const buffer = new DocumentBuffer(items, { maxDocuments: 100, maxBytes: 2000, asTexts });
      for (let index = 0; index < 40; index += 1) {
        buffer.remember(`d${index}`, null);
        buffer.apply(recorded(index + 1, put(`d${index}`, 'g')), [`d${index}`]);
      }
      buffer.writes();
      buffer.committed();
      return Array.from({ length: 40 }, (_, index) => buffer.knows(`d${index}`)).filter(Boolean).length;
    });
    assert.ok((known[0] ?? 0) * 2 < (known[1] ?? 0), `${known}`);
  });

  it('is due when nothing is changed and when much is changed, and not in between', () => {
    const buffer = new DocumentBuffer(items, { maxDocuments: 10_000, maxBytes: 10_000_000 });
    assert.equal(buffer.due, true);
    const make = (count: number) => {
      const made = recorded(count, { type: 'Made', data: { id: `d${count}`, group: 'g' } });
      buffer.apply(made, [`d${count}`]);
    };
    make(1);
    assert.equal(buffer.due, false);
    for (let count = 2; count <= 4000; count += 1) make(count);
    assert.equal(buffer.due, true);
    buffer.writes();
    buffer.committed();
    buffer.apply(recorded(5000, groupDeleted('h')), []);
    assert.equal(buffer.due, false, 'a removal is not stored yet');
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
