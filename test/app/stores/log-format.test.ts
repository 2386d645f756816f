import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import { checkLogFormat, recordLogFormat, type ServerLog } from '#app/log-format.ts';
import { ownFormat } from '#app/stored-format.ts';
import { openLog } from '#app/stores/open-log.ts';
import { openStreams, openTarget } from '#cli/stores/event-logs.ts';
import { streamKinds } from '#domain/stream-kinds.ts';
import { noStream } from '#event-store/event-store.ts';
import {
  type EventStoreDbEventStore,
  openEventStoreDbEventStore,
} from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { PermanentlyUnavailableError, UnavailableError } from '#shared/errors/unavailable-error.ts';
import { oldestFormat } from '#shared/stored-format.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { unknown } from '#test/support/eventstoredb/faults/failures.ts';

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

  const open = (prefix = streamPrefix) => {
    const store = openEventStoreDbEventStore({ url: server.url, streamPrefix: prefix, streamKinds, log });
    opened.push(store);
    return store;
  };
  const append = async (prefix: string, stream: string, type: string, body: object) => {
    const event = { id: randomUUID(), type, data: JSON.stringify(body), metadata: '{}' };
    assert.equal((await open(prefix).append(stream, noStream, [event]))._tag, 'Right');
  };
  const write = (format: number, writtenBy: string) =>
    append(streamPrefix, 'stored-format', 'StoredFormatRaised', { format, writtenBy });
  const appendEvent = (prefix: string) => append(prefix, 'flow-one', 'FlowDeleted', { id: 'one' });
  const isNewer = (error: unknown) =>
    error instanceof StartupError &&
    error.message.startsWith('The log of EVENT_STORE_URL was written by Switchyard 9.1.0 (format 99, ') &&
    !error.message.includes('\n');

  const isTooOld = (release: string) => (error: unknown) =>
    error instanceof StartupError &&
    error.message ===
      `The log of EVENT_STORE_URL was written by Switchyard ${release}: start Switchyard 0.5.0 once on it, then this release.`;
  const stored = async () => (await open().readRaw('stored-format', 0)).map(({ data }) => JSON.parse(data));
  const refusesEverything = async (isRefusal: (error: unknown) => boolean) => {
    await assert.rejects(recordLogFormat(open()), isRefusal);
    const address = { kind: 'eventstoredb', url: server.url, streamPrefix } as const;
    await assert.rejects(openLog(address), isRefusal);
    await assert.rejects(openStreams(address), isRefusal);
    await assert.rejects(openTarget(address), isRefusal);
  };

  it('is that of this release in a new log, after starts of several nodes at the same time', async () => {
    const store = open();
    await checkLogFormat(store);
    await Promise.all([store, open(), open()].map(recordLogFormat));
    await checkLogFormat(store);
    assert.deepEqual(await stored(), [ownFormat]);
  });

  it('is nothing that followers and exports of the log see', async () => {
    const store = open();
    await recordLogFormat(store);
    assert.deepEqual([await store.lastPosition(), await store.readRawLog(0, 10)], [0, []]);
  });

  it('rises from that of the release before, and stays when the same release starts again', async () => {
    await write(oldestFormat, '0.5.0');
    await appendEvent(streamPrefix);
    const store = open();
    for (let start = 0; start < 2; start += 1) await recordLogFormat(store);
    assert.deepEqual(
      (await stored()).map(({ format }) => format),
      [oldestFormat, ownFormat.format],
    );
  });

  it('stops a start and every tool on a log of a newer release, in one line', async () => {
    await write(99, '9.1.0');
    await refusesEverything(isNewer);
  });

  it('stops a start and every tool on a log of an older release, in one line, and stays as it is', async () => {
    await appendEvent(streamPrefix);
    await refusesEverything(isTooOld('0.4.0 or an older release'));
    assert.deepEqual(await stored(), []);
    await write(oldestFormat - 1, '0.4.1');
    await refusesEverything(isTooOld('0.4.1'));
  });

  it('is not missed in a log that has only events of another application', async () => {
    await appendEvent('others.');
    await recordLogFormat(open());
    assert.deepEqual(await stored(), [ownFormat]);
  });

  it('is recorded by an import', async () => {
    await (await openTarget({ kind: 'eventstoredb', url: server.url, streamPrefix })).close();
    assert.deepEqual(await stored(), [ownFormat]);
  });

  it('is not recorded by a user who may not write, and the start continues', async () => {
    await write(oldestFormat, '0.5.0');
    server.access.anonymous = 'read';
    await recordLogFormat(open());
    assert.deepEqual(
      (await stored()).map(({ format }) => format),
      [oldestFormat],
    );
  });

  it('stops a start of a user who may not write to a new log, which would begin without it', async () => {
    server.access.anonymous = 'read';
    await assert.rejects(recordLogFormat(open()), PermanentlyUnavailableError);
  });

  const sameLog = (store: EventStoreDbEventStore, other: Partial<ServerLog>): ServerLog => ({
    append: (...append) => store.append(...append),
    lastPosition: () => store.lastPosition(),
    readRaw: (...read) => store.readRaw(...read),
    ensureWritable: () => store.ensureWritable(),
    ...other,
  });

  it('is not passed over where the server only takes too long to say who may write', async () => {
    const ensureWritable = () => Promise.reject(new UnavailableError('It takes too long.'));
    await assert.rejects(recordLogFormat(sameLog(open(), { ensureWritable })), UnavailableError);
    await write(oldestFormat, '0.5.0');
    await assert.rejects(recordLogFormat(sameLog(open(), { ensureWritable })), UnavailableError);
  });

  it('is not passed over where other nodes come first again and again', async () => {
    const append = async () => E.left({ kind: 'conflict', actualRevision: 0 } as const);
    await assert.rejects(recordLogFormat(sameLog(open(), { append })), UnavailableError);
  });

  it('is recorded by an import although the server is away for a moment', async () => {
    server.faults.nextAppends.push({ kind: 'fail', failure: unknown('Not now.') });
    await (await openTarget({ kind: 'eventstoredb', url: server.url, streamPrefix })).close();
    assert.deepEqual(await stored(), [ownFormat]);
  });

  it('stops a start where it cannot be read', async () => {
    const event = { id: randomUUID(), type: 'StoredFormatRaised', data: '{"format":"4"}', metadata: '{}' };
    await open().append('stored-format', noStream, [event]);
    await assert.rejects(recordLogFormat(open()), StartupError);
  });
});
