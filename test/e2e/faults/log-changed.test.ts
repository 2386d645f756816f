import assert from 'node:assert/strict';
import { copyFileSync, cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { announcedOwner } from '#app/data-directory.ts';
import { expectProblem, expectStatus } from '#test/e2e/support/expect.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { long } from '#test/support/run/long.ts';
import { describeOnMongoDb } from '#test/support/service/mongodb-server.ts';
import { Nodes } from '#test/support/service/nodes.ts';
import {
  type ServiceProcess,
  startService,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';
import { WatchedProcess } from '#test/support/service/watched-process.ts';

const keysTool = join(import.meta.dirname, '../../../src/cli/keys.ts');

type Named = { readonly id: string };

/** Creates flows in the project of the admin key. @returns their ids */
async function createFlows({ client }: ServiceProcess, count: number): Promise<ReadonlyArray<string>> {
  const { projectId } = (await client.get('/v1/me')).body;
  const ids: string[] = [];
  for (let number = 0; number < count; number += 1) {
    const made = await client.post<Named>(`/v1/projects/${projectId}/flows`, { name: 'Flow', flowSchema: {} });
    ids.push(expectStatus(made, 201).id);
  }
  return ids;
}

/** The statuses of reads of flows. */
async function statusesOf({ client }: ServiceProcess, flows: ReadonlyArray<string>): Promise<ReadonlyArray<number>> {
  return Promise.all(flows.map(async (id) => (await client.get(`/v1/flows/${id}`)).status));
}

describe('a start on an embedded log that was restored from a backup', function () {
  this.timeout(120_000);
  let folders: ReadonlyArray<TemporaryFolder>;
  let service: ServiceProcess;

  beforeEach(() => {
    folders = [temporaryFolder(), temporaryFolder()];
  });
  afterEach(async () => {
    await service.kill();
    for (const folder of folders) folder.remove();
  });

  const start = async (dataDir: string) => {
    service = await startService({ dataDir, environment: { LOG_LEVEL: 'warn' } });
  };

  it(`shows what is in the log and nothing else, although the log has grown past the read models ${long}`, async () => {
    const [dataDir = '', other = ''] = folders.map(({ path }) => path);
    await start(dataDir);
    const early = await createFlows(service, 2);
    await service.stop();
    rmSync(other, { recursive: true });
    cpSync(dataDir, other, { recursive: true });
    await start(dataDir);
    const lost = await createFlows(service, 3);
    await service.stop();

    // The backup is used elsewhere, and then comes back next to the newer read models.
    await start(other);
    const late = await createFlows(service, 6);
    await service.stop();
    for (const file of readdirSync(dataDir)) if (file.startsWith('events.db')) rmSync(join(dataDir, file));
    copyFileSync(join(other, 'events.db'), join(dataDir, 'events.db'));

    await start(dataDir);
    assert.deepEqual(await statusesOf(service, early), [200, 200]);
    assert.deepEqual(await statusesOf(service, lost), [404, 404, 404]);
    assert.deepEqual(await statusesOf(service, late), [200, 200, 200, 200, 200, 200]);
    assert.match(service.stdout, /The log no longer has events that the read models were made from/);
    await service.stop();
    await start(dataDir);
    assert.doesNotMatch(service.stdout, /no longer has events/);
  });
});

describe('a log that changes under a running service', function () {
  this.timeout(180_000);
  let double: EventStoreDbDouble;
  let folder: TemporaryFolder;
  let service: ServiceProcess;
  let url: string;

  beforeEach(async () => {
    double = await EventStoreDbDouble.start();
    folder = temporaryFolder();
    const environment = { EVENT_STORE_URL: double.url, LOG_LEVEL: 'info' };
    service = await startService({ dataDir: folder.path, environment });
    // It announces no address while it is opened again.
    url = service.url;
  });
  afterEach(async () => {
    await service.kill();
    await double.kill();
    folder.remove();
  });

  const readiness = async () => {
    const answer = await fetch(`${url}/readyz`);
    return { status: answer.status, text: await answer.text() };
  };
  const isReady = async () => (await readiness()).status === 200;
  const notices = (milliseconds: number) =>
    eventually(async () => (await readiness()).text.includes('log-changed'), 'it notices', milliseconds);

  it(`refuses everything after a restore, and continues by itself from what both logs have ${long}`, async () => {
    const early = await createFlows(service, 2);
    const backup = double.log.copy();
    const lost = await createFlows(service, 3);
    await double.restore(backup);
    await notices(20_000);
    expectProblem(await service.client.get(`/v1/flows/${early[0]}`), 503, 'log-changed', [], 'both planes');
    await eventually(isReady, 'it is ready again', 30_000);
    assert.deepEqual(await statusesOf(service, early), [200, 200]);
    assert.deepEqual(await statusesOf(service, lost), [404, 404, 404]);
    const late = await createFlows(service, 2);
    assert.deepEqual(await statusesOf(service, late), [200, 200]);
    const lines = service.stdout.split('\n').filter((line) => /no longer has events that were read/.test(line));
    assert.equal(lines.length, 1, service.stdout);
    // Each flow has three: its creation, its first version, and that this one is active.
    const { auditEntriesGone } = JSON.parse(lines[0] ?? '');
    assert.ok(auditEntriesGone >= lost.length * 3 && auditEntriesGone < lost.length * 6, `${auditEntriesGone} entries`);
  });

  const owner = () => announcedOwner(folder.path);
  // The address of the service that was closed is not recorded any more.
  const ownsAgain = () =>
    eventually(() => owner() !== null && owner()?.url === undefined, 'it owns the folder', 20_000);
  const moments = { 'when it notices the change': () => notices(20_000), 'while it is opened again': ownsAgain };
  for (const [when, moment] of Object.entries(moments))
    it(`closes everything before it ends, if it is stopped ${when} ${long}`, async () => {
      const flows = await createFlows(service, 1);
      const backup = double.log.copy();
      await createFlows(service, 1);
      await double.restore(backup);
      await moment();
      assert.equal((await service.stop()).code, 0, service.stdout);
      // The end of an orderly stop removes it.
      assert.equal(owner(), null, service.stdout);
      service = await startService({ dataDir: folder.path, environment: { EVENT_STORE_URL: double.url } });
      assert.deepEqual(await statusesOf(service, flows), [200]);
    });

  it(`answers nothing on another log, until it is started again ${long}`, async () => {
    await createFlows(service, 1);
    await double.reset();
    await notices(20_000);
    expectProblem(await service.client.get('/v1/me'), 503, 'log-changed', [], 'both planes');
    assert.equal((await fetch(`${url}/healthz`)).status, 200);
    await eventually(() => /The event store has another log than before/.test(service.stdout), 'it says so');
    assert.deepEqual(
      double.log.events.filter(({ stream }) => stream.startsWith('switchyard.')),
      [],
    );
    await ownsAgain();
    const environment = { DATA_DIR: folder.path, EVENT_STORE_URL: double.url };
    const tool = new WatchedProcess({ file: keysTool, args: ['admin'], environment });
    assert.equal((await tool.ended).code, 1, tool.stdout);
    assert.match(tool.stderr, /The log has changed.*start the service again/);
    assert.equal((await service.stop()).code, 0);
    assert.equal(owner(), null);
  });
});

describeOnMongoDb('a log that changes under two nodes', (mongoDb) => {
  let double: EventStoreDbDouble;
  let nodes: Nodes;

  beforeEach(async () => {
    double = await EventStoreDbDouble.start();
    const readStoreUrl = mongoDb.newUrl();
    nodes = new Nodes({
      environment: () => ({ EVENT_STORE_URL: double.url, READ_STORE_URL: readStoreUrl, LOG_LEVEL: 'warn' }),
    });
  });
  afterEach(async () => {
    await nodes.end();
    await double.kill();
  });

  it(`is noticed by each, and both show what the log has ${long}`, async function () {
    this.timeout(180_000);
    const both = [await nodes.start(), await nodes.start()] as const;
    const urls = both.map(({ url }) => url);
    const early = await createFlows(both[0], 2);
    const backup = double.log.copy();
    const lost = await createFlows(both[1], 3);
    await double.restore(backup);
    const said = async (url: string) => (await fetch(`${url}/readyz`)).text();
    const hasNoticed = urls.map((url) =>
      eventually(async () => (await said(url)).includes('log-changed'), 'it notices', 30_000),
    );
    await Promise.all(hasNoticed);
    await Promise.all(
      urls.map((url) => eventually(async () => (await fetch(`${url}/readyz`)).ok, 'it is ready again', 60_000)),
    );
    const late = await createFlows(both[0], 2);
    for (const node of both) {
      assert.deepEqual(await statusesOf(node, early), [200, 200]);
      assert.deepEqual(await statusesOf(node, lost), [404, 404, 404]);
      await eventually(
        async () => (await statusesOf(node, late)).every((status) => status === 200),
        'it shows new ones',
      );
    }
  });
});
