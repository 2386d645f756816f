import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { long } from '#test/support/run/long.ts';
import { describeOnSharedEngines } from '#test/support/service/engines.ts';
import { Nodes } from '#test/support/service/nodes.ts';
import { checkOutRelease, type ReleaseCheckout } from '#test/support/service/release-checkout.ts';
import { ServiceProcess, temporaryFolder } from '#test/support/service/service-process.ts';
import packageJson from '../../package.json' with { type: 'json' };

/** The last commit of release 0.4.0, whose format has number 3. */
const release04 = 'dab0b10d';
const testTimeoutMs = 300_000;

type Named = { readonly id: string };

/** The one line by which a service has refused to start. */
async function refusalOf(service: ServiceProcess): Promise<string> {
  const { code } = await service.ended();
  const output = service.stderr.trim();
  assert.deepEqual([code, output.split('\n').length], [1, 1], output);
  return output;
}

describe(`release 0.4.0 and data of this release ${long}`, function () {
  this.timeout(testTimeoutMs);
  let older: ReleaseCheckout;
  before(() => {
    older = checkOutRelease(release04);
  });
  after(() => older?.remove());

  it('stops with one line in a folder that this release has opened, and this release reads what it has stored', async () => {
    const folder = temporaryFolder();
    const started: ServiceProcess[] = [];
    const start = (main?: string) => {
      const service = new ServiceProcess({ dataDir: folder.path, ...(main && { main }) });
      started.push(service);
      return service;
    };
    try {
      const before = await start(older.main).listening();
      const { id } = expectStatus(await before.client.post<Named>('/v1/projects', { name: 'Old' }), 201);
      await before.stop();
      const newer = await start().listening();
      expectStatus(await newer.client.get(`/v1/projects/${id}`), 200);
      await newer.stop();
      const format = `written by Switchyard ${packageJson.version} \\(format 5, this release 0\\.4\\.0 knows 3\\)`;
      assert.match(await refusalOf(start(older.main)), new RegExp(format));
      // As in a backup of the databases alone.
      rmSync(join(folder.path, 'format.json'));
      assert.match(await refusalOf(start(older.main)), /events\.db .*newer Switchyard \(format 5, this one knows 1\)/);
    } finally {
      for (const service of started) await service.kill();
      folder.remove();
    }
  });

  describeOnSharedEngines('on EventStoreDB and MongoDB', (engines) => {
    const nodes = new Nodes(engines);
    afterEach(() => nodes.end());

    it('stops with one line on stores that this release has opened, and this release reads what it has stored', async function () {
      this.timeout(testTimeoutMs);
      const before = await nodes.begin(undefined, {}, older.main).listening();
      const { id } = expectStatus(await before.client.post<Named>('/v1/projects', { name: 'Old' }), 201);
      await before.stop();
      const newer = await nodes.start();
      expectStatus(await newer.client.get(`/v1/projects/${id}`), 200);
      const refused = await refusalOf(nodes.begin(undefined, {}, older.main));
      assert.match(refused, /database of READ_STORE_URL was written by .*\(format 5, this release 0\.4\.0 knows 3\)/);
    });
  });
});
