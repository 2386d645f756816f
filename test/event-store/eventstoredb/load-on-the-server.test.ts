import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { pino } from 'pino';
import { noStream } from '#event-store/event-store.ts';
import { openEventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { StreamReader } from '#event-store/eventstoredb/stream-reader.ts';
import { UnreadableStreams } from '#event-store/eventstoredb/unreadable-streams.ts';
import { StreamNames } from '#event-store/eventstoredb/wire/stream-names.ts';
import { feedTail } from '#event-store/log-feed.ts';
import { Admission } from '#exchange/admission.ts';
import { mustAppend, someEvent } from '#test/contract/event-store.ts';
import { eventMessage } from '#test/support/eventstoredb/calls/messages.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { foreignEvents } from '#test/support/eventstoredb/foreign-events.ts';
import { tailOf } from '#test/support/log/tail-of.ts';
import { eventually } from '#test/support/run/eventually.ts';

const log = pino({ level: 'silent' });
const restMs = 3_000;

describe('load that the event store puts on an EventStoreDB server', function () {
  this.timeout(60_000);

  let double: EventStoreDbDouble;

  beforeEach(async () => {
    double = await EventStoreDbDouble.start();
  });

  afterEach(() => double.kill());

  const open = () => openEventStoreDbEventStore({ url: double.url, streamPrefix: 'test.', log });

  it('is at most two reads and 20 kB a second at rest, also when the last event is large and of another application', async () => {
    const store = open();
    const tail = tailOf(store);
    const wake = feedTail(tail, store.changes);
    const other = openEventStoreDbEventStore({ url: double.url, streamPrefix: 'test.', log, wake });
    const ending = new AbortController();
    const tails = [tail, tailOf(other)];
    const follow = { name: 'The test', after: 0, handle: () => {}, signal: ending.signal };
    const followings = tails.map((tail) => tail.follow(follow));
    await mustAppend(store, 'flow-1', noStream, [someEvent()]);
    const data = Buffer.alloc(1_000_000, 'x');
    double.log.append('other-application', 'any', [{ ...foreignEvents.json, id: crypto.randomUUID(), data }]);
    await eventually(() => followings.every(({ isCaughtUp }) => isCaughtUp));
    await sleep(500);
    const [calls, bytes] = [double.calls, double.bytesSent];
    await sleep(restMs);
    const callsPerSecond = (double.calls - calls) / (restMs / 1_000);
    const bytesPerSecond = (double.bytesSent - bytes) / (restMs / 1_000);
    assert.ok(callsPerSecond <= 2, `${callsPerSecond} calls a second`);
    assert.ok(bytesPerSecond <= 20_000, `${bytesPerSecond} bytes a second`);
    ending.abort();
    for (const tail of tails) await tail.close();
    await other.close();
    await store.close();
  });
});

describe('reads of streams from EventStoreDB', () => {
  const eventsOfStream = 70;
  let underWay = 0;
  let maxUnderWay = 0;
  const names = new StreamNames({ streamPrefix: 'test.' });
  /** A server that answers late. Its streams have 70 events. */
  const reads = {
    answers: async (request: ReadReq) => {
      const from = Number(request.getOptions()?.getStream()?.getRevision());
      const count = Number(request.getOptions()?.getCount());
      if (from > 0) maxUnderWay = Math.max(maxUnderWay, ++underWay);
      await sleep(5);
      if (from > 0) underWay -= 1;
      const length = Math.min(count, eventsOfStream - from);
      return Array.from({ length }, (_, index) => answerAt(from + index));
    },
  };

  it('have a bound for those of several pages at the same time', async () => {
    const reader = new StreamReader({
      admission: new Admission(),
      reads: reads as never,
      names,
      unreadable: new UnreadableStreams(log),
    });
    const streams = Array.from({ length: 20 }, (_, number) => `flow-${number}`);
    const read = await Promise.all(streams.map((stream) => reader.read(stream, 0, 100)));
    assert.ok(read.every(({ length }) => length === eventsOfStream));
    assert.equal(maxUnderWay, 4);
  });
});

function answerAt(revision: number): ReadResp {
  const event = {
    ...{ id: crypto.randomUUID(), type: 'Filled', isJson: true, data: Buffer.from('{}'), metadata: Buffer.from('{}') },
    ...{ stream: 'test.flow-1', revision: BigInt(revision), position: 1, end: 1, index: 0, createdAt: 0 },
  };
  return eventMessage(event, undefined, 'string');
}
