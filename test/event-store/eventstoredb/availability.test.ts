import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { pino } from 'pino';
import { noStream } from '#event-store/event-store.ts';
import {
  type EventStoreDbEventStore,
  openEventStoreDbEventStore,
} from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { mustAppend, mustRefuse, someEvent, someStream } from '#test/contract/event-store.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { eventually } from '#test/support/run/eventually.ts';

describe('EventStoreDB that is away', function () {
  this.timeout(30_000);

  let double: EventStoreDbDouble;
  let store: EventStoreDbEventStore;

  beforeEach(async () => {
    double = await EventStoreDbDouble.start();
    store = openEventStoreDbEventStore({ url: double.url, streamPrefix: 'test.', log: pino({ level: 'silent' }) });
    await mustAppend(store, someStream(), noStream, [someEvent()]);
  });

  afterEach(async () => {
    double.thaw();
    await store.close();
    await double.kill();
  });

  const outages: ReadonlyArray<readonly [string, () => Promise<void>, () => Promise<void>]> = [
    ['killed', () => double.kill(), () => double.start()],
    ['frozen', async () => double.freeze(), async () => double.thaw()],
  ];

  for (const [name, leave, come] of outages) {
    it(`is known to be away after it was ${name}: the first call fails long before its deadline, the next call at once`, async () => {
      await leave();
      await mustRefuse(store, someStream(), noStream, [someEvent()]);
      const { calls } = double;
      for (let number = 0; number < 20; number += 1) {
        const failure = await mustRefuse(store, someStream(), noStream, [someEvent()]);
        assert.ok(failure.kind === 'unavailable' && failure.retryAfterSeconds >= 1);
        assert.match(failure.detail, /^The event store cannot take writes: it /);
        await assert.rejects(store.lastPosition(), /^UnavailableError: The event store cannot be read: it /);
      }
      assert.equal(double.calls, calls, 'nobody but the probe asks the server');
      await come();
      await eventually(async () => E.isRight(await store.append(someStream(), noStream, [someEvent()])));
    });
  }

  it('settles a running append whose caller was refused', async () => {
    const stream = someStream();
    double.freeze();
    assert.equal((await mustRefuse(store, stream, noStream, [someEvent()])).kind, 'unavailable');
    double.thaw();
    await eventually(() => double.log.visible(`test.${stream}`)?.length === 1);
  });

  it('counts as available when cut connections are restored at once', async () => {
    double.cut();
    await mustAppend(store, someStream(), noStream, [someEvent()]);
  });
});
