import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { pino } from 'pino';
import type { RecordedEvent, StoredEvent } from '#event-store/event-store.ts';
import { openEventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { seal, verifyChain } from '#event-store/hash-chain.ts';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import { openSqliteLogTarget } from '#event-store/sqlite/sqlite-log-target.ts';
import { splitIntoAppends } from '#event-store/transfer/append-batches.ts';
import { AppendLogTarget } from '#event-store/transfer/append-log-target.ts';
import { InterruptedError, LogError } from '#event-store/transfer/log-failure.ts';
import { exportLog, verifyLog } from '#event-store/transfer/log-file/export-log.ts';
import { checkLogFile, importLog } from '#event-store/transfer/log-file/import-log.ts';
import { LogCheck } from '#event-store/transfer/log-file/log-check.ts';
import { PartFile } from '#event-store/transfer/log-file/part-file.ts';
import type { LogTarget, RawLog } from '#event-store/transfer/raw-log.ts';
import { projections } from '#projections/table.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { storedFormat } from '#shared/stored-format.ts';
import { collect, someEvent, someMetadata } from '#test/contract/event-store.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { MemoryLog } from '#test/support/fakes/in-memory-log.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { withoutPositions } from '#test/support/fakes/without-positions.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { itInRounds } from '#test/support/run/long.ts';
import { populatedService, settleProcesses } from '#test/support/service/populated-service.ts';

const report = () => undefined;
const { signal } = new AbortController();
const { prevHash: _prevHash, hash: _hash, ...unsealed } = someMetadata;

/** JSON texts that parsing and printing would change. */
const oddTexts = [
  '{"n":1.0,"n":1e400}',
  '{ "big": 123456789012345678901234567890, "zero": -0 }',
  '{\n}',
  '{"a":"\u2028"}',
];

/** Returns an event of a type that no read model knows, because its data is deliberately unusual. */
const metering = (revision: number, data: string): StoredEvent => ({
  stream: 'usage-2026-01-05-node',
  revision,
  ...someEvent('UsageOfAnotherRelease'),
  data,
});

/** All of an event except its position in the log. */
const contents = (events: ReadonlyArray<StoredEvent>): StoredEvent[] =>
  events.map(({ stream, revision, id, type, data, metadata }) => ({ stream, revision, id, type, data, metadata }));

async function readWholeLog(log: RawLog): Promise<StoredEvent[]> {
  return contents(await log.readRawLog(0, 100_000));
}

describe('exporting and importing a log', () => {
  let folder: string;
  /** A service's events with usage events between them. */
  let events: ReadonlyArray<StoredEvent>;

  before(async () => {
    const { raw } = (await populatedService()).store;
    const third = Math.floor(raw.length / 3);
    events = contents([
      ...raw.slice(0, third),
      metering(0, oddTexts[0] ?? ''),
      metering(1, oddTexts[1] ?? ''),
      ...raw.slice(third, -2),
      ...oddTexts.slice(2).map((data, index) => metering(2 + index, data)),
      ...raw.slice(-2),
    ]);
    assert.equal(verifyChain(events), null);
  });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'switchyard-moving-'));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function exported(log: RawLog, name: string, { resume = false, check = new LogCheck() } = {}): Promise<string> {
    const file = join(folder, name);
    const part = await PartFile.open(file, resume);
    try {
      await exportLog({ log, from: 'memory', sink: part, check, report, signal });
    } catch (error) {
      await part.close();
      throw error;
    }
    await part.finish();
    return file;
  }

  const written = (name: string, text: string | Buffer): string => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };

  /** Imports a file as one chunk, as from standard input. */
  const imported = (file: string, target: LogTarget) =>
    importLog({
      source: {
        name: 'the file',
        open: () =>
          (async function* () {
            yield readFileSync(file);
          })(),
      },
      target,
      check: new LogCheck(),
      events: null,
      report,
      signal,
    });

  const checked = (file: string) =>
    checkLogFile({
      source: {
        name: 'the file',
        open: () =>
          (async function* () {
            yield readFileSync(file);
          })(),
      },
      check: new LogCheck(),
      report,
      signal,
    });

  const withoutFirstLine = (file: string) => readFileSync(file, 'utf8').split('\n').slice(1).join('\n');

  it('moves a log from SQLite to EventStoreDB and back with equal events, chains and read models', async () => {
    const double = await EventStoreDbDouble.start();
    const server = openEventStoreDbEventStore({
      url: double.url,
      streamPrefix: 'test.',
      log: pino({ level: 'silent' }),
    });
    const source = openSqliteLogTarget(join(folder, 'source.db'));
    const back = openSqliteLogTarget(join(folder, 'back.db'));
    try {
      await source.store(events);
      const first = await exported(source, 'first');
      assert.deepEqual(await imported(first, new AppendLogTarget(server)), {
        held: 0,
        stored: events.length,
      });
      const second = await exported(server, 'second');
      await imported(second, back);
      for (const log of [source, server, back]) assert.deepEqual(await readWholeLog(log), events);
      assert.equal(withoutFirstLine(second), withoutFirstLine(first), 'the same log gives the same file');
      const { documents: original } = await readModels(join(folder, 'source.db'));
      assert.ok(Object.values(original).filter((documents) => documents.length > 0).length >= 5);
      assert.deepEqual((await readModels(join(folder, 'back.db'))).documents, original);
      const recorded = await collect(server, { after: 0 }, (seen) => seen.length === events.length);
      assert.deepEqual(await documentsOf(recorded), original);
    } finally {
      await Promise.all([source.close(), back.close()]);
      await server.close();
      await double.kill();
    }
  });

  /** The documents that the real projections make of a file's log, in the order of lists. */
  async function readModels(file: string) {
    const store = await openSqliteEventStore({ file });
    try {
      const recorded = await collect(store, { after: 0 }, (seen) => seen.length === events.length);
      return { documents: await documentsOf(recorded) };
    } finally {
      await store.close();
    }
  }

  async function documentsOf(log: ReadonlyArray<RecordedEvent>) {
    const model = new ReadModel(log);
    const collections: Record<string, ReadonlyArray<object>> = {};
    for (const { name } of projections) {
      const { documents } = await model.list(name, {}, { limit: 100_000, maxBytes: 1e9 });
      collections[name] = withoutPositions(name, documents);
    }
    return collections;
  }

  it('starts processes again on an imported log without a further event', async () => {
    const target = new MemoryLog();
    await imported(await exported(new MemoryLog(events), 'file'), target);
    const store = new AppendableEventStore();
    for (const { stream, expectedRevision, events: run } of splitIntoAppends(target.events))
      await store.append(stream, expectedRevision, run);
    assert.equal(store.log.length, events.length);
    await settleProcesses(new Service(store));
    assert.equal(store.log.length, events.length);
  });

  itInRounds('resumes an export that was cut off at any byte', { few: 12, many: 200 }, async (numRuns) => {
    const whole = withoutFirstLine(await exported(new MemoryLog(events), 'whole'));
    const bytes = readFileSync(join(folder, 'whole'));
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: bytes.length }), async (length) => {
        written('again.part', bytes.subarray(0, length));
        const file = await exported(new MemoryLog(events), 'again', { resume: true });
        assert.equal(withoutFirstLine(file), whole);
        rmSync(file);
      }),
      { numRuns, examples: [[0], [bytes.length], [bytes.length - 1]] },
    );
  });

  it('resumes an export that has not begun or whose log has grown since', async () => {
    const longer = await exported(new MemoryLog(events), 'longer', { resume: true });
    const part = readFileSync(await exported(new MemoryLog(events.slice(0, 9)), 'shorter'));
    written('again.part', part);
    assert.equal(
      withoutFirstLine(await exported(new MemoryLog(events), 'again', { resume: true })),
      withoutFirstLine(longer),
    );
  });

  it('refuses to resume an export of another log, and overwrites no file', async () => {
    const file = await exported(new MemoryLog(events), 'file');
    await assert.rejects(exported(new MemoryLog(events), 'file'), /file is there already/);
    written('other.part', readFileSync(file));
    await assert.rejects(exported(new MemoryLog(events), 'other'), /--resume/);
    const others = [events.slice(0, -1), [...events.slice(0, 4), ...events.slice(5)]];
    for (const other of others)
      await assert.rejects(exported(new MemoryLog(other), 'other', { resume: true }), LogError);
    assert.deepEqual(readFileSync(join(folder, 'other.part')), readFileSync(file));
    written('list.part', 'a shopping list\n');
    await assert.rejects(exported(new MemoryLog(events), 'list', { resume: true }), /not a part of an export/);
  });

  itInRounds('resumes an import that was cut off after any event', { few: 12, many: 200 }, async (numRuns) => {
    const file = await exported(new MemoryLog(events), 'file');
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: events.length - 1 }), fc.nat({ max: 5 }), async (room, secondRoom) => {
        const target = new MemoryLog();
        target.room = room;
        await assert.rejects(imported(file, target), UnavailableError);
        if (room + secondRoom < events.length) {
          target.room = secondRoom;
          await assert.rejects(imported(file, target), UnavailableError);
        }
        const held = target.events.length;
        assert.deepEqual(await imported(file, target), { held, stored: events.length - held });
        assert.deepEqual(contents(target.events), events);
      }),
      { numRuns },
    );
  });

  it('stores nothing twice, and adds the events of a newer export', async () => {
    const target = openSqliteLogTarget(join(folder, 'target.db'));
    await imported(await exported(new MemoryLog(events.slice(0, 10)), 'older'), target);
    const newer = await exported(new MemoryLog(events), 'newer');
    assert.deepEqual(await imported(newer, target), { held: 10, stored: events.length - 10 });
    assert.deepEqual(await imported(newer, target), { held: events.length, stored: 0 });
    assert.deepEqual(await imported(join(folder, 'older'), target), { held: 10, stored: 0 });
    assert.deepEqual(await readWholeLog(target), events);
    await target.close();
  });

  itInRounds('rejects a file that was cut off at any byte', { few: 12, many: 200 }, async (numRuns) => {
    const bytes = readFileSync(await exported(new MemoryLog(events), 'file'));
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: bytes.length - 1 }), async (length) => {
        const file = written('cut', bytes.subarray(0, length));
        await assert.rejects(checked(file), /is cut off after line \d+/);
        await assert.rejects(imported(file, new MemoryLog()), /is cut off after line \d+/);
      }),
      { numRuns, examples: [[0]] },
    );
  });

  itInRounds('rejects a file with any change in any line', { few: 25, many: 400 }, async (numRuns) => {
    const lines = readFileSync(await exported(new MemoryLog(events), 'file'), 'utf8')
      .trimEnd()
      .split('\n');
    const text = (changed: ReadonlyArray<string>) => `${changed.join('\n')}\n`;
    const inRange = fc.integer({ min: 1, max: lines.length - 2 });
    await fc.assert(
      fc.asyncProperty(inRange, fc.constantFrom('change', 'drop', 'double', 'swap'), async (at, how) => {
        const changed = [...lines];
        const [line = ''] = changed.splice(at, 1);
        if (how === 'change') changed.splice(at, 0, line.replace(/:0|:1|:2|e/, ':7'));
        if (how === 'double') changed.splice(at, 0, line, line);
        if (how === 'swap') changed.splice(at === 1 ? 2 : at - 1, 0, line);
        await assert.rejects(checked(written('changed', text(changed))), LogError);
      }),
      { numRuns },
    );
    const [first = '', ...rest] = lines;
    const newer = text([first.replace('"version":1', '"version":2'), ...rest]);
    await assert.rejects(checked(written('newer', newer)), /newer Switchyard \(format 2/);
    const ofNewerData = text([first.replace(`"format":${storedFormat}`, '"format":99'), ...rest]);
    await assert.rejects(
      checked(written('newer-data', ofNewerData)),
      /newer Switchyard \(format 99, this one knows \d+\)/,
    );
    const ofRelease04 = text([first.replace(`"format":${storedFormat},`, ''), ...rest]);
    assert.notEqual(ofRelease04, text(lines));
    await checked(written('older', ofRelease04));
    await assert.rejects(checked(written('none', text(rest))), /is not an exported log/);
    await assert.rejects(checked(written('more', text([...lines, '{}']))), /continues after its last line/);
    await assert.rejects(checked(written('odd', text([first, '{"stream":1}']))), /Line 2 of the file is not an event/);
  });

  it('names the event at which a chain is broken, and stops before storing it', async () => {
    const at = events.findIndex(({ type }) => type === 'FlowDeleted');
    const changed = events.map((event, index) => (index === at ? { ...event, type: 'FlowKept' } : event));
    const { stream = '', revision, id } = events[at] ?? {};
    const place = new RegExp(`broken at revision ${revision} of ${stream}, event ${id}: it is not what was sealed`);
    await assert.rejects(exported(new MemoryLog(changed), 'file'), place);
    await assert.rejects(verifyLog({ log: new MemoryLog(changed), check: new LogCheck(), report, signal }), place);
    const faults: string[] = [];
    const check = new LogCheck((fault) => faults.push(fault));
    const file = await exported(new MemoryLog(changed), 'unverified', { check });
    assert.equal(faults.length, 1);
    assert.match(faults[0] ?? '', place);
    const target = new MemoryLog();
    await assert.rejects(imported(file, target), place);
    assert.ok(target.events.length <= at);
  });

  it('renumbers a usage stream from 0 when its oldest events have expired', async () => {
    const left = [...events.slice(0, 3), metering(40, '{}'), metering(41, '{}')];
    const target = openSqliteLogTarget(join(folder, 'target.db'));
    const file = await exported(new MemoryLog(left), 'file');
    await imported(file, target);
    assert.deepEqual(
      (await readWholeLog(target)).map(({ revision }) => revision),
      [...left.slice(0, 3).map(({ revision }) => revision), 0, 1],
    );
    assert.deepEqual(await imported(file, target), { held: 5, stored: 0 });
    await target.close();
  });

  it('adds the events of a newer export whose log has archived metering that the target still has', async () => {
    const target = openSqliteLogTarget(join(folder, 'target.db'));
    await imported(await exported(new MemoryLog(events.slice(0, -1)), 'older'), target);
    const unarchived = events.filter(({ stream }) => !stream.startsWith('usage-'));
    const result = await imported(await exported(new MemoryLog(unarchived), 'newer'), target);
    assert.deepEqual(result, { held: unarchived.length - 1, stored: 1 });
    assert.deepEqual(await readWholeLog(target), events);
    await target.close();
  });

  it('refuses a target that holds anything else, and names the difference', async () => {
    const file = await exported(new MemoryLog(events), 'file');
    const { stream, revision, id } = events[3] ?? {};
    const other = { ...metering(0, '{}'), stream: 'thing-1' };
    const target = new MemoryLog([...events.slice(0, 3), other]);
    await assert.rejects(
      imported(file, target),
      new RegExp(
        `where the file has revision ${revision} of ${stream} \\(event ${id}\\), it has revision 0 of thing-1`,
      ),
    );
    const changed = { ...(events[1] as StoredEvent), data: '{}' };
    await assert.rejects(imported(file, new MemoryLog([events[0] as StoredEvent, changed])), /another log/);
    assert.equal(target.events.length, 4);
  });

  it('reports that another writer appended meanwhile', async () => {
    const file = await exported(new MemoryLog(events), 'file');
    const target = new MemoryLog();
    const store = target.store.bind(target);
    target.store = async (batch) => {
      const position = await store(batch);
      await store([{ ...metering(0, '{}'), stream: 'usage-other' }]);
      return position;
    };
    await assert.rejects(imported(file, target), /Something else wrote to the target/);
    const double = await EventStoreDbDouble.start();
    const server = openEventStoreDbEventStore({
      url: double.url,
      streamPrefix: 'test.',
      log: pino({ level: 'silent' }),
    });
    try {
      const run = [metering(1, '{}')];
      await assert.rejects(new AppendLogTarget(server).store(run), /usage-\S+ at revision -1, where 0 should be/);
      const file = openSqliteLogTarget(join(folder, 'conflict.db'));
      await assert.rejects(file.store(run), /usage-\S+ at revision -1, where 0 should be/);
      await file.close();
    } finally {
      await server.close();
      await double.kill();
    }
  });

  it('splits events that exceed the size of an append', async () => {
    const large: StoredEvent[] = [];
    let prevHash: string | null = null;
    for (let revision = 0; revision < 14; revision += 1) {
      const unsealedEvent = { id: randomUUID(), type: 'Grown', data: { text: 'x'.repeat(400_000 + revision) } };
      const { event, hash }: ReturnType<typeof seal> = seal('thing-1', revision, prevHash, unsealedEvent, unsealed);
      large.push({ ...event, stream: 'thing-1', revision });
      prevHash = hash;
    }
    assert.deepEqual(
      [...splitIntoAppends(large)].map((run) => run.events.length),
      [2, 2, 2, 2, 2, 2, 2],
    );
    const double = await EventStoreDbDouble.start();
    const server = openEventStoreDbEventStore({
      url: double.url,
      streamPrefix: 'test.',
      log: pino({ level: 'silent' }),
    });
    try {
      const file = await exported(new MemoryLog(large), 'file');
      await imported(file, new AppendLogTarget(server));
      assert.ok((await server.readRawLog(0, 100)).length < large.length, 'what is read at the same time is bounded');
      assert.equal(withoutFirstLine(await exported(server, 'back')), withoutFirstLine(file));
    } finally {
      await server.close();
      await double.kill();
    }
  });

  it('stops when it is interrupted, and can be resumed', async () => {
    const aborted = AbortSignal.abort();
    const part = await PartFile.open(join(folder, 'file'), false);
    const log = new MemoryLog(events);
    await assert.rejects(
      exportLog({ log, from: 'memory', sink: part, check: new LogCheck(), report, signal: aborted }),
      InterruptedError,
    );
    await part.close();
    await exported(log, 'file', { resume: true });
    await checked(join(folder, 'file'));
  });

  it('moves an empty log', async () => {
    const target = new MemoryLog();
    assert.deepEqual(await imported(await exported(new MemoryLog(), 'file'), target), { held: 0, stored: 0 });
  });
});
