import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { noStream } from '#event-store/event-store.ts';
import {
  type EventStoreDbEventStore,
  openEventStoreDbEventStore,
} from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { UnreadableEventError } from '#event-store/recorded-event.ts';
import { collect, mustAppend, someEvent, someEvents } from '#test/contract/event-store.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { appendForeignEvents, foreignEvents } from '#test/support/eventstoredb/foreign-events.ts';
import { readEvents } from '#test/support/harness/read-events.ts';
import { tailOf } from '#test/support/log/tail-of.ts';

const log = pino({ level: 'silent' });
const streamKinds = ['flow', 'project', 'projection'];

describe('EventStoreDB event store on a server with other applications', function () {
  this.timeout(30_000);

  let double: EventStoreDbDouble;
  const stores: EventStoreDbEventStore[] = [];

  beforeEach(async () => {
    double = await EventStoreDbDouble.start();
  });

  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()));
    await double.kill();
  });

  function open(streamPrefix = 'switchyard.'): EventStoreDbEventStore {
    const store = openEventStoreDbEventStore({ url: double.url, streamPrefix, streamKinds, log });
    stores.push(store);
    return store;
  }

  const caughtUp = (_events: unknown, batch: { readonly caughtUp: boolean }) => batch.caughtUp;

  it('names streams with the prefix on the server and without it everywhere else', async () => {
    const store = open();
    const event = someEvent();
    await mustAppend(store, 'flow-1', noStream, [event]);
    assert.equal(double.log.visible('switchyard.flow-1')?.length, 1);
    const [read] = await readEvents(store, 'flow-1', 0);
    const [followed] = await collect(store, { after: 0 }, caughtUp);
    const [raw] = await store.readRaw('flow-1', 0);
    const [logged] = await store.readRawLog(0, 10);
    for (const seen of [read, followed, raw, logged]) assert.deepEqual([seen?.stream, seen?.id], ['flow-1', event.id]);
  });

  it('skips the events of other applications of any kind', async () => {
    const store = open();
    appendForeignEvents(double, 7);
    // A type of the service in another application's stream, and a stream of the service without the prefix.
    double.log.append('orders-2', 'any', [{ ...foreignEvents.json, id: randomUUID(), type: 'SomethingHappened' }]);
    double.log.append('flow-9', 'any', [{ ...foreignEvents.json, id: randomUUID() }]);
    const events = someEvents(3);
    await mustAppend(store, 'flow-1', noStream, events.slice(0, 2));
    appendForeignEvents(double, 7);
    await mustAppend(store, 'flow-1', 1, events.slice(2));
    appendForeignEvents(double, 7);
    const seen = await collect(store, { after: 0 }, caughtUp);
    assert.deepEqual(
      seen.map(({ id }) => id),
      events.map(({ id }) => id),
    );
  });

  it('ends with the last event of ours, whatever other applications store after it', async () => {
    const store = open();
    const { position: end } = await mustAppend(store, 'flow-1', noStream, [someEvent()]);
    appendForeignEvents(double, 50);
    assert.equal(await store.lastPosition(), end);
    let position = 0;
    await collect(store, { after: 0 }, (_, batch) => {
      position = batch.position;
      return position >= end;
    });
    assert.equal(position, end);
  });

  it('finds the first event of the service behind those of other applications, without asking again and again', async () => {
    const store = open();
    const tail = tailOf(store);
    appendForeignEvents(double, 5);
    assert.equal(await tail.firstEvent(AbortSignal.timeout(60_000), false), null);
    const waiting = tail.firstEvent(AbortSignal.timeout(60_000));
    await sleep(50);
    appendForeignEvents(double, 5);
    await sleep(300);
    const pages = double.callsByKind.log;
    assert.ok(pages < 20, `${pages} pages`);
    const event = someEvent();
    await mustAppend(store, 'flow-1', noStream, [event]);
    assert.equal((await waiting)?.id, event.id);
    assert.equal((await tail.firstEvent(AbortSignal.timeout(60_000), false))?.id, event.id);
    await tail.close();
  });

  it('gives an event of another type in a stream of the service only to the handlers of that type', async () => {
    const store = open();
    double.log.append('switchyard.flow-1', 'any', [{ ...foreignEvents.binary, id: randomUUID() }]);
    await mustAppend(store, 'flow-2', noStream, [someEvent()]);
    const ours = await collect(store, { after: 0, types: ['SomethingHappened'] }, caughtUp);
    assert.deepEqual(
      ours.map(({ data }) => data),
      [{ number: 1 }],
    );
    const [blob] = await collect(store, { after: 0, types: ['Blob'] }, caughtUp);
    assert.throws(() => blob?.data, UnreadableEventError);
  });

  it('separates two environments, even when one prefix begins with the other', async () => {
    const [one, other, none] = [open('app.'), open('app.test.'), open('')];
    const events = someEvents(3);
    await mustAppend(one, 'flow-1', noStream, events.slice(0, 1));
    await mustAppend(other, 'flow-1', noStream, events.slice(1, 2));
    await mustAppend(none, 'flow-1', noStream, events.slice(2));
    for (const [index, store] of [one, other, none].entries()) {
      const seen = await collect(store, { after: 0 }, caughtUp);
      assert.deepEqual(
        seen.map(({ id }) => id),
        [events[index]?.id],
      );
      assert.equal((await readEvents(store, 'flow-1', 0)).length, 1);
    }
  });

  it('finds a stream of the service without the prefix, and ignores the streams of other applications', async () => {
    const store = open();
    appendForeignEvents(double, 10);
    await mustAppend(store, 'flow-1', noStream, [someEvent()]);
    assert.equal(await store.findUnprefixedStream(), null);
    await mustAppend(open(''), 'project-1', noStream, [someEvent()]);
    assert.equal(await store.findUnprefixedStream(), 'project-1');
    assert.equal(await open('').findUnprefixedStream(), null);
  });

  it('appends with one call despite any number of other applications’ events', async () => {
    const store = open();
    appendForeignEvents(double, 10_000);
    await mustAppend(store, 'flow-1', noStream, [someEvent()]);
    const before = double.callsByKind;
    await mustAppend(store, 'flow-1', 0, [someEvent()]);
    const after = double.callsByKind;
    assert.deepEqual([after.append - before.append, after.stream - before.stream, after.log - before.log], [1, 0, 0]);
  });
});
