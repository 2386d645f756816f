import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MessageChannel, Worker } from 'node:worker_threads';
import * as E from 'fp-ts/lib/Either.js';
import { ChangeNotifier, listenForChanges } from '#event-store/change-notifications.ts';
import { type CommitStatistics, noStream } from '#event-store/event-store.ts';
import { openEventFile } from '#event-store/sqlite/event-file.ts';
import { openSqliteEventReader } from '#event-store/sqlite/reader.ts';
import {
  openSqliteEventStore,
  type SqliteEventStore,
  type SqliteEventStoreOptions,
} from '#event-store/sqlite/sqlite-event-store.ts';
import { Writer } from '#event-store/sqlite/writer.ts';
import { Admission } from '#exchange/admission.ts';
import type { FairPlacesLimits } from '#shared/async/fair-queue.ts';
import { runFor } from '#shared/async/fair-queue.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { oldestFormat, storedFormat } from '#shared/stored-format.ts';
import {
  collect,
  eventStoreContract,
  mustAppend,
  mustRefuse,
  someEvent,
  someEvents,
  someStream,
} from '#test/contract/event-store.ts';
import { logTailContract } from '#test/contract/log-tail.ts';
import { streamRemovalContract } from '#test/contract/stream-removal.ts';
import { readEvents } from '#test/support/harness/read-events.ts';
import { itInRounds } from '#test/support/run/long.ts';

eventStoreContract('SQLite', openOnNewFile);
logTailContract('SQLite', openOnNewFile);

async function openOnNewFile() {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-event-store-'));
  const file = join(folder, 'events.sqlite');
  let store = await openSqliteEventStore({ file });
  return {
    store,
    async hideBefore(stream: string, revision: number) {
      const database = new DatabaseSync(file, { timeout: 5_000 });
      database.prepare('DELETE FROM events WHERE stream = ? AND revision < ?').run(stream, revision);
      database.close();
    },
    async reopen() {
      await store.close();
      store = await openSqliteEventStore({ file });
      return store;
    },
    async destroy() {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

describe('closing of the SQLite event store', () => {
  itInRounds(
    'answers each accepted append with its position, even when the writer thread ends early',
    { few: 10, many: 150 },
    async (rounds) => {
      for (let round = 0; round < rounds; round += 1) {
        const folder = mkdtempSync(join(tmpdir(), 'switchyard-event-store-'));
        const store = await openSqliteEventStore({ file: join(folder, 'events.sqlite') });
        const appends = Array.from({ length: 100 }, () => mustAppend(store, someStream(), noStream, [someEvent()]));
        await store.close();
        await Promise.all(appends);
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );
});

streamRemovalContract('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-event-store-'));
  const store = await openSqliteEventStore({ file: join(folder, 'events.sqlite') });
  return {
    store,
    async destroy() {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
});

describe('SqliteEventStore', () => {
  let folder: string;
  let file: string;
  const opened: SqliteEventStore[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'switchyard-event-store-'));
    file = join(folder, 'events.sqlite');
  });

  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(options: Partial<SqliteEventStoreOptions> = {}): Promise<SqliteEventStore> {
    const store = await openSqliteEventStore({ file, ...options });
    opened.push(store);
    return store;
  }

  const appendsUpTo = (limits: FairPlacesLimits) => new Admission({ limits: { rooms: { append: limits } } });

  it('commits waiting appends together', async () => {
    const commits: CommitStatistics[] = [];
    const store = await open({ onCommit: (statistics) => commits.push(statistics) });
    await Promise.all(Array.from({ length: 200 }, () => mustAppend(store, someStream(), noStream, someEvents(2))));
    const appends = commits.reduce((sum, commit) => sum + commit.appends, 0);
    const events = commits.reduce((sum, commit) => sum + commit.events, 0);
    assert.deepEqual({ appends, events }, { appends: 200, events: 400 });
    // Each message to the writer holds several appends: in the worst case each message is one commit.
    assert.ok(commits.length <= 25, `${commits.length} commits`);
  });

  it('refuses appends beyond the limit of waiting ones immediately, and accepts more afterwards', async () => {
    const store = await open({ admission: appendsUpTo({ maxPlaces: 10 }) });
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, () => store.append(someStream(), noStream, [someEvent()])),
    );
    const refused = outcomes.filter(E.isLeft);
    assert.equal(refused.length, 20);
    assert.ok(refused.every(({ left }) => left.kind === 'unavailable' && left.retryAfterSeconds > 0));
    await mustAppend(store, someStream(), noStream, [someEvent()]);
  });

  it('keeps room for the appends of other projects when one project has as many as it may', async () => {
    const store = await open({ admission: appendsUpTo({ maxPlaces: 10 }) });
    const append = (project: string) => runFor(project, () => store.append(someStream(), noStream, [someEvent()]));
    const outcomes = await Promise.all([...Array.from({ length: 30 }, () => append('one')), append('other')]);
    assert.deepEqual([outcomes.filter(E.isRight).length, outcomes.at(-1)?._tag], [6, 'Right']);
    assert.ok(E.isRight(await append('one')));
  });

  it('refuses appends beyond the limit of waiting bytes immediately, and accepts more afterwards', async () => {
    const store = await open({ admission: appendsUpTo({ maxBytes: 10_000 }) });
    const large = () => someEvent('Large', { text: 'x'.repeat(3_000) });
    const outcomes = await Promise.all(
      Array.from({ length: 5 }, () => store.append(someStream(), noStream, [large()])),
    );
    assert.deepEqual(
      outcomes.map((outcome) => E.isRight(outcome)),
      [true, true, false, false, false],
    );
    await mustAppend(store, someStream(), noStream, [large()]);
  });

  it('stores all the bytes that may wait with a third of the memory of its thread', async () => {
    const store = await open({ maxWriterHeapMb: 170 });
    const large = () => someEvent('Large', { text: 'ü'.repeat(430 * 1024) });
    const outcomes = await Promise.all(
      Array.from({ length: 80 }, () => store.append(someStream(), noStream, [large()])),
    );
    const stored = outcomes.filter((outcome) => E.isRight(outcome)).length;
    // Those beyond 64 MiB are refused, because the others wait.
    assert.ok(stored >= 70 && stored < 80, `${stored} appends were stored`);
  });

  it('upcasts events that it reads, and reads raw events as stored', async () => {
    const store = await open({ upcast: (type, version, data) => ({ ...data, type, version }) });
    const event = someEvent('Done', { a: 1 });
    const { position } = await mustAppend(store, 'thing-1', noStream, [event]);
    const upcast = { a: 1, type: 'Done', version: 1 };
    assert.deepEqual((await readEvents(store, 'thing-1', 0))[0]?.data, upcast);
    const [subscribed] = await collect(store, { after: 0 }, (events) => events.length === 1);
    assert.deepEqual(subscribed?.data, upcast);
    const raw = { ...event, stream: 'thing-1', revision: 0, position };
    assert.deepEqual(store.readRaw('thing-1', 0), [raw]);
    assert.deepEqual(store.readRawLog(0, 10), [raw]);
  });

  it('reads any range of a long stream, whatever is stored between its events', async () => {
    const store = await open();
    const events = someEvents(300);
    for (let revision = noStream; revision < 299; revision += 5) {
      await mustAppend(store, 'long', revision, events.slice(revision + 1, revision + 6));
      await mustAppend(store, someStream(), noStream, [someEvent()]);
    }
    for (const [from, limit] of [
      [0, 1],
      [0, 64],
      [1, 63],
      [63, 1],
      [64, 64],
      [100, 100],
      [255, 10],
      [290, 50],
      [300, 1],
    ] as const)
      assert.deepEqual(
        (await readEvents(store, 'long', from, limit)).map(({ id }) => id),
        events.slice(from, from + limit).map(({ id }) => id),
        `${limit} from ${from}`,
      );
    const repeated = await mustAppend(store, 'long', 99, events.slice(100, 105));
    assert.equal(repeated.revision, 104);
  });

  it('ends a batch early when its texts grow large', async () => {
    const store = await open();
    const large = () => [someEvent('Large', { text: 'x'.repeat(890_000) })];
    for (let count = 0; count < 25; count += 1) await mustAppend(store, someStream(), noStream, large());
    const sizes: number[] = [];
    const events = await collect(store, { after: 0 }, (_, batch) => {
      sizes.push(batch.events.length);
      return batch.caughtUp;
    });
    assert.equal(events.length, 25);
    assert.deepEqual(sizes, [...Array(12).fill(2), 1]);
  });

  it('skips a long run of other event types in steps', async () => {
    const store = await open();
    for (let revision = noStream; revision < 24_000; revision += 1_000)
      await mustAppend(store, 'thing-1', revision, someEvents(1_000, 'Other'));
    await mustAppend(store, 'thing-2', noStream, someEvents(2, 'Wanted'));
    const request = { maxEvents: 1_000, types: ['Wanted'] };
    const first = await store.readPage({ after: 0, ...request });
    assert.deepEqual([first.events.length, first.isEnd], [0, false]);
    const second = await store.readPage({ after: first.position, ...request });
    assert.deepEqual([second.events.length, second.isEnd], [2, true]);
  });

  describe('SqliteEventStore killed with -9 during appends', () => {
    /** Runs the appending process until it has printed some lines, kills it and returns the lines. */
    async function appendUntilKilled(lines: number): Promise<string[]> {
      const script = join(import.meta.dirname, 'appending-process.ts');
      const child = spawn(process.execPath, [script, file], { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = once(child.stdout, 'end');
      let text = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (text.split('\n').length > lines) child.kill('SIGKILL');
      });
      await ended;
      return text.split('\n').slice(0, -1);
    }

    it('holds every acknowledged event, and revisions without a gap', async function () {
      this.timeout(60_000);
      const acknowledged: string[] = [];
      for (const lines of [50, 200, 400]) acknowledged.push(...(await appendUntilKilled(lines)));
      assert.ok(acknowledged.length >= 650);
      const store = await open();
      const log = store.readRawLog(0, 1_000_000);
      const stored = new Set(log.map(({ stream, revision, id }) => `${stream} ${revision} ${id}`));
      assert.deepEqual(
        acknowledged.filter((line) => !stored.has(line)),
        [],
      );
      for (let writer = 0; writer < 8; writer += 1) {
        const revisions = log.filter(({ stream }) => stream === `stream-${writer}`).map(({ revision }) => revision);
        assert.deepEqual(
          revisions,
          revisions.map((_, index) => index),
        );
      }
    });
  });

  describe('wake-ups of readers', () => {
    it('wakes a subscription in another thread', async () => {
      const store = await open();
      const events = someEvents(6);
      await mustAppend(store, 'thing-1', noStream, events.slice(0, 2));
      const wake = store.changePort();
      const thread = new Worker(new URL('./following-thread.ts', import.meta.url), {
        workerData: { file, wake, count: 6 },
        transferList: [wake],
      });
      const seen: string[] = [];
      let revision = 1;
      thread.on('message', ({ ids, caughtUp }: { ids: string[]; caughtUp: boolean }) => {
        seen.push(...ids);
        // Appends one event at a time, when the thread has caught up.
        if (caughtUp && revision < 5) {
          void mustAppend(store, 'thing-1', revision, events.slice(revision + 1, revision + 2));
          revision += 1;
        }
      });
      await once(thread, 'exit', { signal: AbortSignal.timeout(10_000) });
      assert.deepEqual(
        seen,
        events.map(({ id }) => id),
      );
    });

    it('keeps at most one message waiting for a busy listener, which then gets the newest position', async () => {
      const { port1, port2 } = new MessageChannel();
      const sender = new ChangeNotifier(port1, () => {});
      for (let position = 1; position <= 1_000; position += 1) sender.send(position);
      const positions: number[] = [];
      port2.on('message', ({ position }: { position: number }) => positions.push(position));
      const wakeUps = listenForChanges(port2);
      await wakeUps.waitPast(999, AbortSignal.timeout(5_000));
      sender.close();
      assert.deepEqual(positions, [1, 1_000]);
    });

    it('ends a wait for new events with an error when the store closes', async () => {
      const store = await open();
      const reader = openSqliteEventReader({ file, wake: store.changePort() });
      const waiting = assert.rejects(reader.changes.waitPast(5, AbortSignal.timeout(10_000)), UnavailableError);
      await store.close();
      await waiting;
      await reader.close();
    });

    it('drops the events of a removed stream in each thread before the removal is answered', async () => {
      const store = await open();
      const reader = openSqliteEventReader({ file, wake: store.changePort() });
      const removed: string[] = [];
      store.changes.onStreamRemoved((name) => void removed.push(`here ${name}`));
      reader.changes.onStreamRemoved((name) => void removed.push(`there ${name}`));
      await mustAppend(store, 'usage-2026-01-05-node', noStream, someEvents(2));
      await mustAppend(store, 'thing-1', noStream, [someEvent()]);
      assert.equal(await store.removeStream('usage-2026-01-05-node', 1), true);
      assert.deepEqual(removed.toSorted(), ['here usage-2026-01-05-node', 'there usage-2026-01-05-node']);
      await reader.close();
      await store.close();
    });
  });

  describe('an append that was decided on an unfinished one', () => {
    const appendAfter = (store: SqliteEventStore, expectedRevision: number, lastEventId: string, event = someEvent()) =>
      store.append('thing-1', expectedRevision, [event], lastEventId);

    it('is stored after the event that it was decided on, and conflicts after another one of that revision', async () => {
      const [first, second, other] = [someEvent(), someEvent(), someEvent()];
      let store = await openSqliteEventStore({ file });
      const sent = [store.append('thing-1', noStream, [first]), appendAfter(store, 0, first.id, second)];
      assert.deepEqual((await Promise.all(sent)).map(E.isRight), [true, true]);
      const refused = await appendAfter(store, 1, other.id);
      assert.deepEqual(E.isLeft(refused) && refused.left, { kind: 'conflict', actualRevision: 1 });
      await store.close();
      // The writer has to read the event's id.
      store = await openSqliteEventStore({ file });
      assert.ok(E.isLeft(await appendAfter(store, 1, other.id)));
      assert.ok(E.isRight(await appendAfter(store, 1, second.id)));
      await store.close();
    });
  });

  describe('Writer', () => {
    it('fails all appends of a transaction that the disk refuses, and continues when there is space', () => {
      const database = openEventFile(file);
      const writer = new Writer(database);
      const append = (stream: string, expectedRevision: number, bytes: number) => ({
        kind: 'append' as const,
        streams: [stream],
        expectedRevisions: [expectedRevision],
        lastEventIds: [],
        eventCounts: [1],
        texts: [someEvent().id, 'Done', JSON.stringify({ text: 'x'.repeat(bytes) }), '{}'],
      });
      assert.equal(writer.commit([append('thing-1', noStream, 10)]).kind, 'committed');
      database.exec(`PRAGMA max_page_count = 10`);
      const failed = writer.commit([append('thing-1', 0, 10), append('thing-2', noStream, 100_000)]);
      assert.equal(failed.kind, 'failed');
      assert.equal(failed.kind === 'failed' && failed.appends, 2);
      database.exec('PRAGMA max_page_count = 1000000');
      const committed = writer.commit([append('thing-1', 0, 10), append('thing-2', noStream, 100_000)]);
      assert.deepEqual(committed.kind === 'committed' && committed.outcomes, [1, 2, 0, 3]);
      writer.close();
    });

    it('detects appends of another writer', () => {
      const one = new Writer(openEventFile(file));
      const other = new Writer(openEventFile(file));
      const append = (expectedRevision: number) => ({
        kind: 'append' as const,
        streams: ['thing-1'],
        expectedRevisions: [expectedRevision],
        lastEventIds: [],
        eventCounts: [1],
        texts: [someEvent().id, 'Done', '{}', '{}'],
      });
      const outcomes = [one.commit([append(-1)]), other.commit([append(0)]), one.commit([append(0)])].map((outcome) =>
        outcome.kind === 'committed' ? outcome.outcomes : outcome.detail,
      );
      assert.deepEqual(outcomes, [
        [0, 1],
        [1, 2],
        [1, -1],
      ]);
      other.close();
      one.close();
    });
  });

  describe('opening the event file', () => {
    /** Returns the error message of a failed start, which is one line. */
    async function refusal(): Promise<string> {
      try {
        await open();
      } catch (error) {
        assert.ok(error instanceof StartupError, String(error));
        assert.ok(!error.message.includes('\n') && error.message.includes(file), error.message);
        return error.message;
      }
      return assert.fail('started');
    }

    it('opens an empty file as a new one', async () => {
      writeFileSync(file, '');
      await mustAppend(await open(), 'thing-1', noStream, [someEvent()]);
    });

    it('refuses a file that is not SQLite', async () => {
      writeFileSync(file, 'plain text, and more than a page of it\n'.repeat(500));
      assert.match(await refusal(), /is not a SQLite file/);
    });

    it('refuses another application’s file, and leaves it unchanged', async () => {
      const foreign = new DatabaseSync(file);
      foreign.exec('CREATE TABLE events (anything TEXT)');
      foreign.close();
      const { size, mtimeMs } = statSync(file);
      assert.match(await refusal(), /another application/);
      assert.deepEqual([statSync(file).size, statSync(file).mtimeMs], [size, mtimeMs]);
    });

    it('refuses a file of a newer release', async () => {
      await (await open()).close();
      const newer = new DatabaseSync(file);
      newer.exec('PRAGMA user_version = 999');
      newer.close();
      assert.match(await refusal(), /newer Switchyard \(format 999/);
    });

    it('records its format in a file of the release before, and refuses an older file unchanged', async () => {
      await (await open()).close();
      const formatOf = (number: number | null) => {
        const database = new DatabaseSync(file);
        try {
          if (number !== null) database.exec(`PRAGMA user_version = ${number}`);
          return database.prepare('PRAGMA user_version').get()?.user_version;
        } finally {
          database.close();
        }
      };
      assert.equal(formatOf(null), storedFormat);
      formatOf(oldestFormat);
      await (await open()).close();
      assert.equal(formatOf(null), storedFormat);
      formatOf(oldestFormat - 1);
      assert.match(await refusal(), /events\.\w+ was written by .* older release: start Switchyard 0\.5\.0 once on it/);
      assert.equal(formatOf(null), oldestFormat - 1);
    });

    it('refuses a truncated file', async () => {
      const store = await open();
      await mustAppend(store, 'thing-1', noStream, someEvents(500));
      await store.close();
      truncateSync(file, 40_960);
      assert.match(await refusal(), /is damaged/);
    });

    it('refuses a folder, and a path whose folder is missing', async () => {
      file = folder;
      assert.match(await refusal(), /is a folder/);
      file = join(folder, 'missing', 'events.sqlite');
      assert.match(await refusal(), /cannot be opened/);
    });
  });

  describe('SqliteEventStore.removeStream', () => {
    it('keeps the newest event of the log, from which positions count up', async () => {
      const store = await open();
      await mustAppend(store, 'usage-2026-01-05-node', noStream, someEvents(3));
      await assert.rejects(store.removeStream('usage-2026-01-05-node', 2), /never removed/);
      assert.equal(store.readRaw('usage-2026-01-05-node', 0).length, 3);
      const { position } = await mustAppend(store, 'thing-1', noStream, [someEvent()]);
      assert.equal(position, 4);
    });

    it('removes the rest of a stream whose first events were removed before a crash', async () => {
      const store = await open();
      await mustAppend(store, 'usage-2026-01-05-node', noStream, someEvents(600));
      await mustAppend(store, 'thing-1', noStream, [someEvent()]);
      await store.close();
      const writer = new Writer(openEventFile(file));
      const part = { stream: 'usage-2026-01-05-node', from: 0, to: 511, lastRevision: 599 };
      assert.equal(writer.remove({ kind: 'remove', ...part }).outcome, 'removed');
      writer.close();
      const again = await open();
      assert.deepEqual(
        again.readRaw('usage-2026-01-05-node', 0, 1_000).map(({ revision }) => revision),
        Array.from({ length: 88 }, (_, index) => 512 + index),
      );
      assert.equal(await again.removeStream('usage-2026-01-05-node', 599), true);
      assert.deepEqual(await again.streamNames('usage-'), []);
      assert.deepEqual(
        again.readRawLog(0, 10).map(({ stream }) => stream),
        ['thing-1'],
      );
    });
  });

  it('answers unavailable after it is closed, without throwing on append', async () => {
    const store = await open();
    const closing = store.close();
    assert.equal((await mustRefuse(store, 'thing-1', noStream, [someEvent()])).kind, 'unavailable');
    await closing;
    assert.throws(() => store.readRaw('thing-1', 0), UnavailableError);
    await assert.rejects(store.removeStream('thing-1', 0), UnavailableError);
  });
});
