import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { checkLogFormat, recordLogFormat } from '#app/log-format.ts';
import { ownFormat } from '#app/stored-format.ts';
import { openLog, openStreams, openTarget } from '#cli/stores/event-logs.ts';
import { streamKinds } from '#domain/stream-kinds.ts';
import { noStream } from '#event-store/event-store.ts';
import {
  type EventStoreDbEventStore,
  openEventStoreDbEventStore,
} from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';

const streamPrefix = 'switchyard.';
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

describe('the format of a log on a server', () => {
  let server: EventStoreDbDouble;
  let opened: EventStoreDbEventStore[];
  beforeEach(async () => {
    server = await EventStoreDbDouble.start();
    opened = [];
  });
  afterEach(async () => {
    for (const store of opened) await store.close();
    await server.stop();
  });

  const open = () => {
    const store = openEventStoreDbEventStore({ url: server.url, streamPrefix, streamKinds, log });
    opened.push(store);
    return store;
  };
  const write = async (format: number, revision = noStream) => {
    const data = JSON.stringify({ format, writtenBy: '9.1.0' });
    const event = { id: randomUUID(), type: 'StoredFormatRaised', data, metadata: '{}' };
    assert.equal((await open().append('stored-format', revision, [event]))._tag, 'Right');
  };
  const isNewer = (error: unknown) =>
    error instanceof StartupError &&
    error.message.startsWith('The log of EVENT_STORE_URL was written by Switchyard 9.1.0 (format 99, ') &&
    !error.message.includes('\n');

  it('is 1 in a log of an older release, and its own after starts of several nodes at the same time', async () => {
    const store = open();
    assert.equal(await checkLogFormat(store), 1);
    await Promise.all([store, open(), open()].map(recordLogFormat));
    assert.equal(await checkLogFormat(store), ownFormat.format);
    const stored = await store.readRaw('stored-format', 0);
    assert.deepEqual(
      stored.map(({ data }) => JSON.parse(data)),
      [ownFormat],
    );
  });

  it('is nothing that followers and exports of the log see', async () => {
    const store = open();
    await recordLogFormat(store);
    assert.deepEqual([await store.lastPosition(), await store.readRawLog(0, 10)], [0, []]);
  });

  it('rises from that of an older release, and stays when the same release starts again', async () => {
    await write(3);
    const store = open();
    for (let start = 0; start < 2; start += 1) await recordLogFormat(store);
    assert.deepEqual(
      (await store.readRaw('stored-format', 0)).map(({ data }) => JSON.parse(data).format),
      [3, ownFormat.format],
    );
  });

  it('stops a start and every tool on a log of a newer release, in one line', async () => {
    await write(99);
    await assert.rejects(recordLogFormat(open()), isNewer);
    const address = { kind: 'eventstoredb', url: server.url, streamPrefix } as const;
    await assert.rejects(openLog(address), isNewer);
    await assert.rejects(openStreams(address), isNewer);
    await assert.rejects(openTarget(address), isNewer);
  });

  it('is recorded by an import', async () => {
    await (await openTarget({ kind: 'eventstoredb', url: server.url, streamPrefix })).close();
    assert.equal(await checkLogFormat(open()), ownFormat.format);
  });

  it('is not recorded by a user who may not write, and the start continues', async () => {
    server.access.anonymous = 'read';
    await recordLogFormat(open());
    assert.equal(await checkLogFormat(open()), 1);
  });

  it('stops a start where it cannot be read', async () => {
    const event = { id: randomUUID(), type: 'StoredFormatRaised', data: '{"format":"4"}', metadata: '{}' };
    await open().append('stored-format', noStream, [event]);
    await assert.rejects(recordLogFormat(open()), StartupError);
  });
});
