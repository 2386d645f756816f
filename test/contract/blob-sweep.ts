import assert from 'node:assert/strict';
import { BlobSweep } from '#application/files/blob-sweep.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import { LogError } from '#event-store/transfer/log-failure.ts';
import type { RawEvent, RawLog } from '#event-store/transfer/raw-log.ts';
import { batchCreated, batchEnded, linesCompleted } from '#test/support/events/batch-events.ts';
import { fileCreated, fileDeleted } from '#test/support/events/file-events.ts';

const dayMs = 24 * 60 * 60 * 1_000;
const ignore = () => undefined;

interface Appended {
  readonly type: string;
  readonly data: object;
}

/** A log that grows. */
class GrowingLog implements RawLog {
  readonly #events: RawEvent[] = [];

  append(...events: ReadonlyArray<Appended>): void {
    for (const { type, data } of events) {
      const position = this.#events.length + 1;
      const metadata = JSON.stringify({ schemaVersion: 1 });
      const stored = { id: `event-${position}`, type, data: JSON.stringify(data), metadata };
      this.#events.push({ ...stored, stream: 'one', revision: position - 1, position });
    }
  }

  readRawLog(after: number, limit: number): ReadonlyArray<RawEvent> {
    return this.#events.slice(after, after + limit);
  }

  async lastPosition(): Promise<number> {
    return this.#events.length;
  }
}

/** Declares the tests of a sweep on every blob store. @param open opens a new, empty store, which the caller removes */
export function blobSweepContract(name: string, open: () => Promise<BlobStore>): void {
  describe(`${name}: sweep of orphaned blobs`, () => {
    let blobs: BlobStore;
    let log: GrowingLog;
    beforeEach(async () => {
      blobs = await open();
      log = new GrowingLog();
      log.append(fileCreated(), fileCreated({ blobId: 'file-gone' }), batchCreated(), linesCompleted(0, '1-3'));
      const ids = ['file-blob-1', 'file-gone', 'file-unnamed', 'part_cbatchone000001_1_0', 'part_cbatchone000001_2_1'];
      for (const id of [...ids, 'digest-1']) await blobs.put(id, content(), 100);
    });
    afterEach(() => blobs.close());

    const find = async (laterMs: number, signal = new AbortController().signal) =>
      BlobSweep.find({ blobs, eventLog: log, now: () => new Date(Date.now() + laterMs), signal }, ignore, ignore);
    const idsOf = (orphans: ReadonlyArray<{ readonly id: string }>) => orphans.map(({ id }) => id).toSorted();
    const stored = async () => idsOf(await all(blobs.list('')));

    it('removes only blobs older than 24 hours that no event names or that a later event released', async () => {
      log.append({ type: 'FileDeleted', data: { ...fileDeleted().data, blobId: 'file-gone' } });
      const sweep = await find(dayMs + 60_000);
      const expected = ['file-gone', 'file-unnamed', 'part_cbatchone000001_2_1'];
      assert.deepEqual(idsOf(sweep.orphans()), expected);
      assert.equal((await stored()).length, 6, 'finding removes nothing');
      assert.deepEqual(idsOf(await all(sweep.remove())), expected);
      assert.deepEqual(await stored(), ['digest-1', 'file-blob-1', 'part_cbatchone000001_1_0']);
      log.append(batchEnded('completed'));
      assert.deepEqual(idsOf((await find(dayMs + 60_000)).orphans()), ['part_cbatchone000001_1_0']);
    });

    it('keeps a blob younger than 24 hours, because an event may still name it', async () => {
      const sweep = await find(dayMs - 60_000);
      assert.deepEqual([sweep.orphans(), sweep.judged.old], [[], 0]);
    });

    it('keeps a blob that an event names after the log was read', async () => {
      const sweep = await find(dayMs + 60_000);
      log.append(fileCreated({ blobId: 'file-unnamed' }));
      assert.deepEqual(idsOf(await all(sweep.remove())), ['part_cbatchone000001_2_1']);
      assert.ok((await stored()).includes('file-unnamed'));
    });

    it('removes nothing when an event cannot be read, and names the event', async () => {
      log.append({ type: 'FileCreated', data: { id: 'file-x' } });
      await assert.rejects(
        () => find(dayMs + 60_000),
        (error) => error instanceof LogError && /revision 4 of one, event event-5 \(FileCreated\)/.test(error.message),
      );
    });

    it('ends a sweep early on request', async () => {
      const ending = new AbortController();
      const sweep = await find(dayMs + 60_000, ending.signal);
      ending.abort();
      await assert.rejects(all(sweep.remove()), /stopped/);
      assert.equal((await stored()).length, 6);
    });
  });
}

async function* content(): AsyncIterable<Uint8Array> {
  yield Buffer.from('content');
}

async function all<Item>(items: AsyncIterable<Item>): Promise<ReadonlyArray<Item>> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}
