import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type EventStore, noStream } from '#event-store/event-store.ts';
import type { StreamRemoval } from '#event-store/stream-removal.ts';
import { readEvents } from '#test/support/harness/read-events.ts';
import { mustAppend, someEvent, someEvents, someStream } from './event-store.ts';

/** A store under test. */
export interface OpenedStreamRemoval {
  readonly store: EventStore & StreamRemoval;
  /** Closes all open stores and removes the log. */
  destroy(): Promise<void>;
}

/** Declares the tests of every store that can remove streams. @param open opens a store on a new log */
export function streamRemovalContract(name: string, open: () => Promise<OpenedStreamRemoval>): void {
  describe(`stream removal contract: ${name}`, function () {
    this.timeout(30_000);
    let opened: OpenedStreamRemoval;
    let store: OpenedStreamRemoval['store'];
    let stream: string;
    let other: string;

    beforeEach(async () => {
      opened = await open();
      store = opened.store;
      stream = `usage-2026-01-05-${randomUUID()}`;
      other = someStream();
    });

    afterEach(() => opened.destroy());

    /** Appends this many events, one after the other, and then an event of another stream. */
    const appendSome = async (count: number) => {
      await mustAppend(store, stream, noStream, someEvents(count));
      await mustAppend(store, other, noStream, [someEvent()]);
    };

    it('names each stream with a prefix once', async () => {
      await appendSome(3);
      const next = `usage-2026-01-06-${randomUUID()}`;
      await mustAppend(store, next, noStream, [someEvent()]);
      assert.deepEqual((await store.streamNames('usage-2026-01-05-')).toSorted(), [stream]);
      assert.deepEqual((await store.streamNames('usage-')).toSorted(), [stream, next].toSorted());
      assert.deepEqual(await store.streamNames('usage-2026-01-07-'), []);
    });

    it('removes all events of a stream, and no events of other streams', async () => {
      await appendSome(1_100);
      assert.equal(await store.removeStream(stream, 1_099), true);
      assert.deepEqual(await readEvents(store, stream, 0), []);
      assert.deepEqual(await store.readRaw(stream, 0, 10), []);
      assert.equal((await readEvents(store, other, 0)).length, 1);
    });

    it('removes nothing of a stream that has later events', async () => {
      await appendSome(5);
      assert.equal(await store.removeStream(stream, 3), false);
      assert.equal((await readEvents(store, stream, 0)).length, 5);
    });

    it('continues the revisions of a removed stream, and reads only the new events', async () => {
      await appendSome(70);
      await store.removeStream(stream, 69);
      const appended = await mustAppend(store, stream, 69, someEvents(2));
      assert.equal(appended.revision, 71);
      const events = await readEvents(store, stream, 0);
      assert.deepEqual(
        events.map(({ revision }) => revision),
        [70, 71],
      );
      assert.equal(await store.removeStream(stream, 69), false);
      await mustAppend(store, other, 0, [someEvent()]);
      assert.equal(await store.removeStream(stream, 71), true);
      assert.deepEqual(await readEvents(store, stream, 0), []);
    });

    it('changes nothing when it removes a stream that is removed already', async () => {
      await appendSome(3);
      assert.equal(await store.removeStream(stream, 2), true);
      assert.equal(await store.removeStream(stream, 2), true);
    });
  });
}
