import assert from 'node:assert/strict';
import { noStream } from '#event-store/event-store.ts';
import {
  type EventStoreDbEventStore,
  openEventStoreDbEventStore,
} from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { mustAppend, mustRefuse, someEvent, someStream } from '#test/contract/event-store.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { accessDenied } from '#test/support/eventstoredb/faults/failures.ts';
import { eventually } from '#test/support/run/eventually.ts';

const missingRight = /lacks rights: writing to streams whose names begin with `test\.` needs `\$w`/;

describe('the right to write to EventStoreDB', function () {
  this.timeout(30_000);

  let double: EventStoreDbDouble;
  let store: EventStoreDbEventStore;
  let lines: Array<{ readonly message: string; readonly stream?: unknown; readonly cause?: unknown }>;

  beforeEach(async () => {
    double = await EventStoreDbDouble.start();
    lines = [];
    const write = (fields: Readonly<Record<string, unknown>>, message: string) =>
      void lines.push({ ...fields, message });
    store = openEventStoreDbEventStore({
      url: double.url.replace('://', '://me:secret@'),
      streamPrefix: 'test.',
      log: { debug: () => {}, info: write, warn: write, error: write },
    });
  });

  afterEach(async () => {
    await store.close();
    await double.kill();
  });

  const deny = () => {
    double.faults.everyAppend = { kind: 'fail', failure: accessDenied() };
  };
  const grant = () => {
    double.faults.everyAppend = null;
  };
  const isWritable = () =>
    store.ensureWritable().then(
      () => true,
      () => false,
    );
  const trials = () => double.callsByKind.append;

  it('is proved by a trial that stores nothing', async () => {
    const before = double.log.events.length;
    await store.ensureWritable();
    assert.equal(double.log.events.length, before);
    assert.equal(trials(), 1);
    await store.ensureWritable();
    assert.equal(trials(), 1, 'once is enough');
  });

  it('is proved by an append', async () => {
    await mustAppend(store, someStream(), noStream, [someEvent()]);
    await store.ensureWritable();
    assert.equal(trials(), 1);
  });

  it('is missing although every read succeeds: one line names the cause, and one line the end', async () => {
    deny();
    assert.equal(typeof (await store.lastPosition()), 'number');
    for (let asked = 0; asked < 10; asked += 1) await assert.rejects(store.ensureWritable(), missingRight);
    assert.ok(trials() <= 2, `${trials()} trials`);
    assert.equal(lines.length, 1, JSON.stringify(lines));
    assert.match(String(lines[0]?.cause), missingRight);
    grant();
    await eventually(isWritable);
    assert.equal(lines.at(-1)?.message, 'EventStoreDB takes appends again');
    assert.equal(lines.length, 2, JSON.stringify(lines));
  });

  it('is missing after it was there: the refusal of a change names the cause, and the line the stream', async () => {
    const stream = someStream();
    await mustAppend(store, stream, noStream, [someEvent()]);
    deny();
    for (let changes = 0; changes < 10; changes += 1) {
      const failure = await mustRefuse(store, stream, 0, [someEvent()]);
      assert.ok(failure.kind === 'unavailable');
      assert.match(failure.detail, missingRight);
    }
    await assert.rejects(store.ensureWritable(), missingRight);
    assert.equal(lines.length, 1, JSON.stringify(lines));
    assert.equal(lines[0]?.stream, `test.${stream}`);
  });

  it('is there while one stream is refused by an access list of its own', async () => {
    double.faults.nextAppends.push({ kind: 'fail', failure: accessDenied() });
    const refused = someStream();
    await mustRefuse(store, refused, noStream, [someEvent()]);
    await store.ensureWritable();
    assert.equal(lines[0]?.stream, `test.${refused}`);
  });

  it('is not known while the server is unavailable', async () => {
    await double.kill();
    await assert.rejects(store.ensureWritable(), /^UnavailableError: The event store cannot take writes: it /);
    await double.start();
    await eventually(isWritable);
  });
});
