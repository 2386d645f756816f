import assert from 'node:assert/strict';
import { EventStoreDBClient, type StreamMetadata } from '@eventstore/db-client';
import { noStream } from '#event-store/event-store.ts';
import type { Reads } from '#event-store/eventstoredb/connection/reads.ts';
import {
  type EventStoreDbEventStore,
  openEventStoreDbEventStore,
} from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { StreamReader } from '#event-store/eventstoredb/stream-reader.ts';
import { UnreadableStreams } from '#event-store/eventstoredb/unreadable-streams.ts';
import { StreamNames } from '#event-store/eventstoredb/wire/stream-names.ts';
import { Admission } from '#exchange/admission.ts';
import { mustAppend, someEvent, someEvents, someStream } from '#test/contract/event-store.ts';
import { eventMessage, streamNotFound } from '#test/support/eventstoredb/calls/messages.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { readEvents } from '#test/support/harness/read-events.ts';

describe('streams of EventStoreDB that someone else has shortened, deleted or closed', () => {
  let double: EventStoreDbDouble;
  let store: EventStoreDbEventStore;
  let client: EventStoreDBClient;
  let stream: string;
  let name: string;
  let lines: object[];

  before(async () => {
    double = await EventStoreDbDouble.start();
    client = EventStoreDBClient.connectionString(double.url);
    const error = (fields: object) => void lines.push(fields);
    const silent = () => undefined;
    const log = { debug: silent, info: silent, warn: silent, error };
    store = openEventStoreDbEventStore({ url: double.url, streamPrefix: 'test.', log });
  });

  beforeEach(() => {
    stream = someStream();
    name = `test.${stream}`;
    lines = [];
  });

  after(async () => {
    await store.close();
    await client.dispose();
    await double.kill();
  });

  const rejects = (read: Promise<unknown>, message: RegExp) =>
    assert.rejects(read, { name: 'UnreadableStreamError', message });

  const limits: ReadonlyArray<[limit: string, metadata: StreamMetadata]> = [
    ['$tb', { truncateBefore: 3 }],
    ['$maxCount', { maxCount: 2 }],
  ];

  for (const [limit, metadata] of limits) {
    it(`names ${limit} as the reason of a stream that lacks its beginning`, async () => {
      await mustAppend(store, stream, noStream, someEvents(5));
      await client.setStreamMetadata(name, metadata);
      const said = `${stream} lacks its events from revision 0 to 2: ${limit} is [23] in the metadata of ${name}`;
      await rejects(store.read(stream, 0), new RegExp(said.replaceAll('$', '\\$')));
      await rejects(store.readRaw(stream, 0), /from revision 0 to 2/);
    });
  }

  it('names $maxAge as the reason of a stream whose events have all expired', async () => {
    await mustAppend(store, stream, noStream, someEvents(2));
    await client.setStreamMetadata(name, { maxAge: 60 });
    assert.equal((await readEvents(store, stream, 0)).length, 2);
    double.now = () => Date.now() + 61_000;
    await rejects(store.read(stream, 0), /lacks its events from revision 0 on: \$maxAge is 60/).finally(() => {
      double.now = Date.now;
    });
  });

  it('distinguishes a soft-deleted stream from one that never existed', async () => {
    assert.deepEqual(await readEvents(store, stream, 0), []);
    await mustAppend(store, stream, noStream, someEvents(2));
    await client.deleteStream(name);
    await rejects(store.read(stream, 0), /lacks its events from revision 0 on: .*\(soft delete\)/);
    // Whoever has read the stream up to its end before sees it, too.
    await rejects(store.read(stream, 2), /lacks its events from revision 2 on: .*\(soft delete\)/);
  });

  it('names a scavenge as the reason of a stream whose limit is gone, and still knows a deleted stream', async () => {
    const deleted = someStream();
    for (const each of [stream, deleted]) await mustAppend(store, each, noStream, someEvents(5));
    await client.setStreamMetadata(name, { truncateBefore: 3 });
    await client.deleteStream(`test.${deleted}`);
    double.log.scavenge();
    await client.setStreamMetadata(name, {});
    await rejects(store.read(stream, 0), /from revision 0 to 2: .* a scavenge has removed the events/);
    await rejects(store.read(deleted, 0), /soft delete/);
  });

  it('refuses a stream whose limit would hide its first event, before it exists', async () => {
    await client.setStreamMetadata(name, { truncateBefore: 3 });
    await rejects(store.read(stream, 0), /\$tb is 3/);
  });

  it('reads a stream that does not exist although its metadata hides nothing or is no object', async () => {
    await client.setStreamMetadata(name, { maxCount: 5 });
    assert.deepEqual(await readEvents(store, stream, 0), []);
    const other = someStream();
    double.log.append(`$$test.${other}`, 'any', [
      { id: crypto.randomUUID(), type: '$metadata', isJson: true, data: Buffer.from('7'), metadata: Buffer.from('') },
    ]);
    assert.deepEqual(await readEvents(store, other, 0), []);
  });

  it('refuses a long part whose stream is deleted between its two reads', async () => {
    const proposed = someEvents(40).map(({ id, type }) => {
      return { id, type, isJson: true, data: Buffer.from('{}'), metadata: Buffer.from('{}') };
    });
    const shown = (of: string) =>
      (double.log.visible(of) ?? []).map((event) => eventMessage(event, undefined, 'string'));
    double.log.append(name, 'no-stream', proposed);
    const parts = [shown(name).slice(0, 31), [streamNotFound(name)]];
    double.log.softDelete(name, 'any');
    parts.push(shown(`$$${name}`));
    const reads = { answers: async () => parts.shift() ?? [] } as unknown as Reads;
    const names = new StreamNames({ streamPrefix: 'test.' });
    const unreadable = new UnreadableStreams({ error: () => undefined });
    const read = new StreamReader({ admission: new Admission(), reads, names, unreadable }).read(stream, 0, 100);
    await rejects(read, /from revision 31 on: .*soft delete/);
  });

  it('refuses to read and to append to a stream that is closed for good', async () => {
    await mustAppend(store, stream, noStream, someEvents(2));
    await client.tombstoneStream(name);
    await rejects(store.read(stream, 0), /tombstoned/);
    await rejects(store.append(stream, 1, [someEvent()]), /deleted in EventStoreDB/);
  });

  it('fails an append that a deleted stream has stored at a later revision', async () => {
    await mustAppend(store, stream, noStream, someEvents(2));
    await client.deleteStream(name);
    await rejects(store.append(stream, noStream, [someEvent()]), /from revision 0 to 1/);
  });

  it('stores at a later revision in a stream that may be shortened', async () => {
    stream = 'usage-2026-01-05-node';
    await mustAppend(store, stream, noStream, someEvents(2));
    await client.deleteStream(`test.${stream}`);
    assert.deepEqual(await readEvents(store, stream, 0), []);
    assert.equal((await mustAppend(store, stream, noStream, [someEvent()])).revision, 2);
    assert.deepEqual(lines, []);
  });

  it('logs each unreadable stream once, with its first revision and the reason', async () => {
    await mustAppend(store, stream, noStream, someEvents(5));
    await client.setStreamMetadata(name, { truncateBefore: 2 });
    for (let reads = 0; reads < 3; reads += 1) await rejects(store.read(stream, 0), /lacks its events/);
    const reason = `$tb is 2 in the metadata of ${name} in EventStoreDB`;
    assert.deepEqual(lines, [{ stream, expectedRevision: 0, firstRevision: 2, reason }]);
  });
});
