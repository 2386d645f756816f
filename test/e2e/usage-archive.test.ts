import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { relativeAccuracy } from '#domain/usage/latency-bins.ts';
import { noStream } from '#event-store/event-store.ts';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import { mustAppend, someEvent } from '#test/contract/event-store.ts';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { rebuildProjection } from '#test/e2e/support/rebuild-projection.ts';
import { startEventsTool, type ToolExit, toolExit } from '#test/support/service/events-tool.ts';
import { composeService, type ServiceInProcess } from '#test/support/service/service-in-process.ts';
import { poll, type TemporaryFolder, temporaryFolder } from '#test/support/service/service-process.ts';
import { callRecord } from '#test/usage/call-records.ts';
import { UsageWindow, usageMetadata } from '#usage/usage-recorder.ts';

const stream = 'usage-2026-01-05-node';

/** The usage that a node recorded in five seconds. */
function recorded(until: string) {
  const window = new UsageWindow(100);
  window.add(callRecord());
  window.add(callRecord({ outcome: 'failed', cost: null }));
  const data = { node: 'node', from: until, until, relativeAccuracy, callsLost: 0, usage: window.entries() };
  const id = randomUUID();
  const metadata = usageMetadata(id, 'UsageRecorded', until);
  return { ...someEvent('UsageRecorded', data as never), metadata: JSON.stringify(metadata) };
}

interface Row {
  readonly calls: number;
}

const callsOf = (rows: ReadonlyArray<Row>) => rows.reduce((sum, { calls }) => sum + calls, 0);

/** The limit of a wait for a read model. It only keeps a test from hanging. */
const maxWaitMs = 60_000;

describe('archived metering of a service', function () {
  this.timeout(120_000);
  let folder: TemporaryFolder;
  let service: ServiceInProcess;
  /** Rows of the usage before anything was archived. */
  let billed: ReadonlyArray<Row>;
  const inFolder = (name: string) => join(folder.path, name);
  const environment = () => ({ DIGEST_SIGNING_KEY: inFolder('key.pem'), DIGEST_DIR: inFolder('outside') });
  const events = (...args: ReadonlyArray<string>): Promise<ToolExit> =>
    toolExit(startEventsTool(args, { DATA_DIR: inFolder('data'), ...environment() }));
  const start = () => composeService({ dataDir: inFolder('data'), environment: environment() });
  const meteringInLog = async () => {
    await events('export', inFolder('log.ndjson'));
    const lines = readFileSync(inFolder('log.ndjson'), 'utf8').split('\n');
    return lines.filter((line) => line.startsWith(`{"stream":"${stream}"`)).length;
  };

  const usage = async () => {
    const days = 'from=2026-01-05T00:00:00Z&until=2026-01-06T00:00:00Z&groupBy=day,key,project,model,target';
    return expectStatus(await service.client.get<{ rows: Row[] }>(`/v1/usage?${days}`), 200).rows;
  };

  before(async () => {
    folder = temporaryFolder();
    const made = await toolExit(startEventsTool(['digest-key'], {}));
    writeFileSync(inFolder('key.pem'), made.stdout, { mode: 0o600 });
    service = await start();
    await service.stop();
    const store = await openSqliteEventStore({ file: inFolder('data/events.db') });
    await mustAppend(store, stream, noStream, [
      recorded('2026-01-05T09:30:05.000Z'),
      recorded('2026-01-05T09:30:10.000Z'),
      recorded('2026-01-05T10:00:00.000Z'),
    ]);
    await store.close();
    service = await start();
    assert.equal((await events('digest')).code, 0);
    const rows = await poll(async () => {
      const read = await usage();
      return callsOf(read) === 6 && read;
    }, maxWaitMs);
    assert.ok(rows !== null, 'the usage is not in the read models');
    billed = rows;
  });

  after(async () => {
    await service?.stop();
    folder.remove();
  });

  it('has no archive to verify at first, which the tool reports', async () => {
    const { code, stdout, stderr } = await events('archives');
    assert.deepEqual([code, stdout, stderr], [0, 'there are no archives\n', '']);
  });

  it('moves from the log to a file beside a running service', async () => {
    const { code, stdout, stderr } = await events('archive', '--before', '2026-01-06');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^archived 2026-01-05: 3 events of 1 streams, \d+ bytes\n$/);
    assert.equal(await meteringInLog(), 0);
  });

  it('counts in GET /v1/usage as before, even after rebuilds without its events', async () => {
    assert.deepEqual(await usage(), billed);
    for (const projection of ['usage-by-hour', 'usage-by-day']) {
      await rebuildProjection(service.client, projection);
      assert.deepEqual(await usage(), billed, `after the rebuild of ${projection}`);
    }
  });

  it('is archived only once', async () => {
    const { code, stdout } = await events('archive', '--before', '2026-01-06T00:00:00Z');
    assert.deepEqual([code, stdout], [0, 'nothing is left to archive\n']);
  });

  it('matches the earlier and later digests and the sums in the log', async () => {
    assert.equal((await events('digest')).code, 0);
    const verified = await events('verify', '--digests', inFolder('outside'));
    assert.equal(verified.code, 0, verified.stderr);
    const archives = await events('archives');
    assert.equal(archives.code, 0, archives.stderr);
    assert.match(archives.stdout, /^usage-archive-2026-01-05-[0-9a-f]{16}: 3 events, SHA-256 [0-9a-f]{64}\n$/);
  });

  it('returns as an exported log that an empty store imports', async () => {
    const unarchived = await events('unarchive', '2026-01-05', inFolder('metering.ndjson'));
    assert.equal(unarchived.code, 0, unarchived.stderr);
    const imported = await events('import', inFolder('metering.ndjson'), '--store', `sqlite:${inFolder('other.db')}`);
    assert.equal(imported.code, 0, imported.stderr);
    assert.match(imported.stderr, /imported 3 events in 1 streams/);
    const missing = await events('unarchive', '2026-01-04', inFolder('none.ndjson'));
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /There is no archive of 2026-01-04\./);
    assert.deepEqual(
      readdirSync(inFolder('')).filter((name) => name.startsWith('none.')),
      [],
    );
  });

  it('refuses days that are too recent and invalid arguments', async () => {
    const recent = await events('archive', '--before', '9999-01-01');
    assert.equal(recent.code, 1);
    assert.match(recent.stderr, /before is at most \d{4}-/);
    const nonsense = await events('archive', '--before', 'yesterday');
    assert.equal(nonsense.code, 1);
    assert.match(nonsense.stderr, /--before must be an RFC 3339 time/);
  });

  it('is reported when it was altered or forged', async () => {
    const blobs = inFolder('data/blobs/files');
    const [name = ''] = readdirSync(blobs).filter((id) => id.startsWith('usage-archive-'));
    const content = readFileSync(join(blobs, name));
    const altered = Buffer.from(content);
    altered.writeUInt8((altered.at(-30) ?? 0) ^ 1, altered.length - 30);
    writeFileSync(join(blobs, name), altered);
    const found = await events('archives');
    assert.equal(found.code, 1);
    assert.match(found.stderr, /BROKEN: The archive usage-archive-2026-01-05-\S+ is damaged/);
    writeFileSync(join(blobs, name), content);
    writeFileSync(join(blobs, `${name.slice(0, -16)}${'0'.repeat(16)}`), content);
    const doubled = await events('archives');
    assert.equal(doubled.code, 1);
    assert.match(doubled.stderr, /do not hold the 3 events that 2026-01-05 was closed with/);
  });
});
