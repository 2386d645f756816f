import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { noStream } from '#event-store/event-store.ts';
import { openEventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { feedTail } from '#event-store/log-feed.ts';
import { LogTail } from '#event-store/log-tail.ts';
import { Admission } from '#exchange/admission.ts';
import { Positions } from '#positions/positions.ts';
import { EmbeddedProjections } from '#projection-engine/hosting/embedded-projections.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { testMetadata } from '#test/support/fakes/in-memory-event-store.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { long } from '#test/support/run/long.ts';
import { temporaryFolder } from '#test/support/service/service-process.ts';

describe('EmbeddedProjections on a log that changes', function () {
  this.timeout(60_000);

  it(`are started again, and project the log that is there now ${long}`, async () => {
    const double = await EventStoreDbDouble.start();
    const folder = temporaryFolder();
    const errors: string[] = [];
    const quiet = { info: () => undefined, warn: () => undefined, debug: () => undefined };
    const log = { ...quiet, error: (_: object, message: string) => errors.push(message) };
    const naming = { url: double.url, streamPrefix: 'test.', streamKinds: ['thing'] };
    const store = openEventStoreDbEventStore({ ...naming, log });
    // What has read a log that has changed is closed, and the service opens another store and tail.
    await using opened = new AsyncDisposableStack();
    const positions = new Positions(new Admission());
    const projections = new EmbeddedProjections({
      positions,
      events: () => {
        const main = openEventStoreDbEventStore({ ...naming, log });
        opened.defer(() => main.close());
        const tail = new LogTail({ pages: main, log });
        opened.defer(() => tail.close());
        return { kind: 'eventstoredb', ...naming, wake: feedTail(tail, main.changes) };
      },
      readStore: { kind: 'sqlite', file: join(folder.path, 'read.db') },
      projectionsModule: new URL('../../support/fakes/thread-projections.ts', import.meta.url),
      log,
    });
    const isLive = () => projections.following().live;
    const append = async (stream: string) => {
      const event = { id: randomUUID(), type: 'Counted', data: '{"id":"a"}', metadata: JSON.stringify(testMetadata) };
      const outcome = await store.append(stream, noStream, [event]);
      assert.ok(outcome._tag === 'Right');
      const passed = await positions.passed({ types: ['Counted'] }, outcome.right.position, { ms: 20_000 });
      assert.equal(passed, 'reached');
    };
    try {
      await projections.start();
      await eventually(isLive, 'the projections follow');
      await append('thing-1');
      const backup = double.log.copy();
      await append('thing-2');
      await double.restore(backup);
      await eventually(
        () => errors.some((line) => line.includes('has failed and is started again')),
        'it ends',
        30_000,
      );
      await eventually(isLive, 'the projections follow again', 30_000);
      await append('thing-3');
      assert.ok(errors.includes('The log no longer has an event that the projector thread has read'));
    } finally {
      positions.close();
      await projections.close();
      await opened.disposeAsync();
      await store.close();
      await double.kill();
      folder.remove();
    }
  });
});
