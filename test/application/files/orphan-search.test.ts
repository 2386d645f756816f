import assert from 'node:assert/strict';
import { OrphanSearch, type SeenEvent } from '#application/files/orphan-search.ts';
import { batchEvents } from '#domain/batch/events.ts';
import { fileEvents } from '#domain/file/events.ts';
import { batchCreated, batchEnded, linesCompleted } from '#test/support/events/batch-events.ts';
import { fileCreated, fileDeleted } from '#test/support/events/file-events.ts';

const storedAt = new Date('2026-01-01T00:00:00.000Z');
const part = (number: number, token = 1) => `part_cbatchone000001_${token}_${number}`;

/** Returns the orphans among these blobs after these events. */
function found(blobs: ReadonlyArray<string>, events: ReadonlyArray<SeenEvent>) {
  const search = new OrphanSearch(blobs.map((id) => ({ id, bytes: 10, storedAt })));
  for (const event of events) search.add(event);
  return search.orphans().map(({ id, reason }) => [id, reason]);
}

describe('OrphanSearch', () => {
  it('finds a blob that no event names', () => {
    assert.deepEqual(found(['file-blob-1', 'file-blob-2'], [fileCreated()]), [['file-blob-2', 'never named']]);
    assert.deepEqual(found([part(0), part(0, 2)], [batchCreated(), linesCompleted(0, '1-3')]), [
      [part(0, 2), 'never named'],
    ]);
  });

  it('finds the content of a file that was deleted or has expired', () => {
    for (const reason of ['deleted', 'expired'] as const) {
      assert.deepEqual(found(['file-blob-1'], [fileCreated(), fileDeleted(reason)]), [['file-blob-1', 'released']]);
    }
  });

  it('finds all parts of an ended batch, and no part of a running batch', () => {
    const running = [batchCreated(), linesCompleted(0, '1-3'), linesCompleted(1, '4-6')];
    assert.deepEqual(found([part(0), part(1)], running), []);
    assert.deepEqual(found([part(0), part(1)], [...running, batchEnded('completed')]), [
      [part(0), 'released'],
      [part(1), 'released'],
    ]);
  });

  it('never finds the input of a batch, because a file owns it', () => {
    assert.deepEqual(found(['file-blob-1'], [fileCreated(), batchCreated(), batchEnded('completed')]), []);
  });

  it('counts blobs that an event named, even if a later event released them', () => {
    const search = new OrphanSearch(['file-blob-1', 'file-blob-2'].map((id) => ({ id, bytes: 1, storedAt })));
    for (const event of [fileCreated(), fileDeleted(), fileCreated({ blobId: 'file-other' })]) search.add(event);
    assert.deepEqual([search.size, search.named], [2, 1]);
  });

  it('recognizes each type of event that names a blob', () => {
    const naming = Object.entries({ ...fileEvents, ...batchEvents }).filter(([, { props }]) => 'blobId' in props);
    for (const [type] of naming.filter(([name]) => name !== 'FileDeleted')) {
      const search = new OrphanSearch([{ id: 'file-1', bytes: 1, storedAt }]);
      search.add({ type, data: { id: 'one', blobId: 'file-1' } });
      assert.deepEqual(search.orphans(), [], type);
    }
    assert.equal(naming.length, 3);
  });
});
