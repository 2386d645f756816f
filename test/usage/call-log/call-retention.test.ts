import assert from 'node:assert/strict';
import { join } from 'node:path';
import { SqliteWriter } from '#sqlite/sqlite-writer.ts';
import { type TemporaryFolder, temporaryFolder } from '#test/support/service/service-process.ts';
import { openSqliteCallLog } from '#usage/call-log/call-log.sqlite.ts';
import type { CallLog } from '#usage/call-log/call-log.ts';
import { CallRetention } from '#usage/call-log/call-retention.ts';
import { loggedCall, timeOfCall } from './logged-calls.ts';

describe('CallRetention', () => {
  let folder: TemporaryFolder;
  let writer: SqliteWriter;
  let calls: CallLog;
  beforeEach(() => {
    folder = temporaryFolder();
    writer = new SqliteWriter({ onFatal: assert.fail });
    calls = openSqliteCallLog({ file: join(folder.path, 'gateway-calls.db'), writer });
  });
  afterEach(async () => {
    await calls.close();
    await writer.close();
    folder.remove();
  });

  let removed: number[];
  const keep = (limits: { readonly maxBytesOfProject: number; readonly maxBytes: number }) => {
    removed = [];
    return new CallRetention({
      calls,
      onRemoved: (count) => removed.push(count),
      limits: { maxAgeMs: 10_000, ...limits },
      now: () => Date.parse(timeOfCall(20)),
    }).keepLimits(new AbortController().signal);
  };
  const removedInAll = () => removed.reduce((sum, count) => sum + count, 0);
  /** The ids that are left, newest first. */
  const listed = async (project: string) => {
    const { calls: found } = await calls.page(project, {}, { limit: 10_000, maxBytes: 1e7, after: null });
    return found.map(({ requestId }) => requestId.replace('request-', ''));
  };
  const idsOf = (project: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${project}${String(index).padStart(4, '0')}`);
  const addTo = (project: string, count: number) =>
    calls.add(idsOf(project, count).map((id) => loggedCall(15, id, {}, project)));
  const bytesOf = async (project: string) => (await calls.bytesByProject()).get(project) ?? 0;

  it('removes calls that are too old', async () => {
    await calls.add([loggedCall(9, 'old'), loggedCall(11, 'young')]);
    await keep({ maxBytesOfProject: 1e6, maxBytes: 1e6 });
    assert.deepEqual([await listed('one'), removed], [['young'], []]);
  });

  it('removes the oldest calls of a project that has too many, and leaves those of others', async () => {
    await addTo('one', 2_500);
    await addTo('two', 10);
    const all = await bytesOf('one');
    await keep({ maxBytesOfProject: all / 2, maxBytes: 1e9 });
    assert.deepEqual(await listed('one'), idsOf('one', 2_500).slice(1_250).toReversed());
    assert.equal(await bytesOf('one'), all / 2);
    assert.deepEqual([removedInAll(), await listed('two')], [1_250, idsOf('two', 10).toReversed()]);
  });

  it('removes few calls in one write', async () => {
    await addTo('one', 1_600);
    await keep({ maxBytesOfProject: 1, maxBytes: 1e9 });
    assert.deepEqual([removedInAll(), await listed('one')], [1_600, []]);
    assert.ok(Math.max(...removed) <= 500, removed.join());
  });

  it('leaves the largest projects the same when all together have too many', async () => {
    await addTo('one', 1_000);
    await addTo('two', 600);
    await addTo('few', 10);
    const bytes = (await bytesOf('few')) / 10;
    await keep({ maxBytesOfProject: 700 * bytes, maxBytes: 1_010 * bytes });
    const left = [(await listed('one')).length, (await listed('two')).length, (await listed('few')).length];
    assert.deepEqual(left, [500, 500, 10]);
  });

  it('leaves the calls as they are after the signal to end', async () => {
    await addTo('one', 10);
    const retention = new CallRetention({
      calls,
      onRemoved: () => assert.fail(),
      limits: { maxAgeMs: 10_000, maxBytesOfProject: 1, maxBytes: 1 },
      now: () => Date.parse(timeOfCall(20)),
    });
    await retention.keepLimits(AbortSignal.abort());
    assert.equal((await listed('one')).length, 10);
  });
});
