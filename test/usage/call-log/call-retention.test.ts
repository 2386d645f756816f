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

  const keep = (limits: { readonly maxBytesOfProject: number; readonly maxBytes: number }) =>
    new CallRetention({
      calls,
      limits: { maxAgeMs: 10_000, ...limits },
      now: () => Date.parse(timeOfCall(20)),
    }).keepLimits(new AbortController().signal);
  const listed = async (project: string) =>
    (await calls.page(project, {}, { limit: 10_000, maxBytes: 1e6, after: null })).calls;
  const represented = async (project: string) =>
    (await listed(project)).reduce((sum, { callsRepresented }) => sum + callsRepresented, 0);
  const addTo = (project: string, count: number) =>
    calls.add(Array.from({ length: count }, (_, index) => loggedCall(15, `${project}${index}`, {}, project)));
  const bytesOf = async (project: string) => (await calls.bytesByProject()).get(project) ?? 0;

  it('removes calls that are too old', async () => {
    await calls.add([loggedCall(9, 'old'), loggedCall(11, 'young')]);
    await keep({ maxBytesOfProject: 1e6, maxBytes: 1e6 });
    assert.deepEqual(
      (await listed('one')).map(({ requestId }) => requestId),
      ['request-young'],
    );
  });

  it('thins the calls of a project that has too many, and leaves those of others', async () => {
    await addTo('one', 2_500);
    await addTo('two', 10);
    const all = await bytesOf('one');
    await keep({ maxBytesOfProject: all / 2, maxBytes: 1e9 });
    assert.ok((await bytesOf('one')) <= (all / 2) * 0.75);
    assert.deepEqual([await represented('one'), (await listed('two')).length], [2_500, 10]);
  });

  it('thins the largest projects first when all together have too many', async () => {
    await addTo('one', 1_000);
    await addTo('two', 600);
    await addTo('three', 10);
    const [one, two, three] = [await bytesOf('one'), await bytesOf('two'), await bytesOf('three')];
    await keep({ maxBytesOfProject: one, maxBytes: one + two });
    assert.ok((await bytesOf('one')) <= one * 0.75);
    assert.deepEqual([await bytesOf('two'), await bytesOf('three')], [two, three]);
  });
});
