import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { KeptData, keptDataEnvironment } from '#test/e2e/support/kept-data.ts';
import { newProject } from '#test/e2e/support/tenants.ts';
import { long } from '#test/support/run/long.ts';
import { describeOnSharedEngines } from '#test/support/service/engines.ts';
import { Nodes } from '#test/support/service/nodes.ts';
import { checkOutRelease, type ReleaseCheckout } from '#test/support/service/release-checkout.ts';
import { ServiceProcess, temporaryFolder } from '#test/support/service/service-process.ts';
import { WebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';

/** The last commit of release 0.4.0, whose format has number 3. */
const release04 = 'dab0b10d';
/** The last commit of release 0.5.0, whose format has number 4. */
const release05 = '7f5b2075';
const testTimeoutMs = 300_000;

/** The one line by which a service has refused to start. */
async function refusalOf(service: ServiceProcess): Promise<string> {
  const { code } = await service.ended();
  const output = service.stderr.trim();
  assert.deepEqual([code, output.split('\n').length], [1, 1], output);
  return output;
}

const goThrough05 =
  'was written by Switchyard 0\\.4\\.0(?: or an older release)?: start Switchyard 0\\.5\\.0 once on it, then this';
const isOlder = (place: string) => new RegExp(`${place} ${goThrough05}`);
const isNewer = (place: string) =>
  new RegExp(`${place} was written by Switchyard .* \\(format 5, this release 0\\.5\\.0 knows 4\\)`);

describe(`data of older releases ${long}`, function () {
  this.timeout(testTimeoutMs);
  const receiver = new WebhookReceiver();
  let of04: ReleaseCheckout;
  let of05: ReleaseCheckout;
  before(async () => {
    of04 = checkOutRelease(release04);
    of05 = checkOutRelease(release05);
    await receiver.start();
  });
  after(async () => {
    of04?.remove();
    of05?.remove();
    await receiver.close();
  });

  /** Opens data of 0.4.0 with release 0.5.0, stores more, and reads all of it with this release. */
  async function openWith05ThenThis(start: (main?: string) => ServiceProcess, projectId: string): Promise<void> {
    const between = await start(of05.main).listening();
    const data = await KeptData.storedBy(between, receiver);
    await between.stop();
    const newer = await start().listening();
    expectStatus(await newer.client.get(`/v1/projects/${projectId}`), 200);
    await data.expectIn(newer);
    await newer.stop();
  }

  describe('in a data folder', () => {
    const folder = temporaryFolder();
    const started: ServiceProcess[] = [];
    afterEach(async () => {
      for (const service of started.splice(0)) await service.kill();
    });
    after(() => folder.remove());
    const start = (main?: string) => {
      const service = new ServiceProcess({
        dataDir: folder.path,
        environment: keptDataEnvironment,
        ...(main && { main }),
      });
      started.push(service);
      return service;
    };
    const numberOf = () => JSON.parse(readFileSync(join(folder.path, 'format.json'), 'utf8')).format;

    it('stops a start where 0.4.0 has written it, until 0.5.0 has opened it, and stops 0.5.0 afterwards', async () => {
      const before = await start(of04.main).listening();
      const projectId = await newProject(before.client);
      await before.stop();
      assert.match(await refusalOf(start()), isOlder(`The data folder ${folder.path}`));
      assert.equal(numberOf(), 3);
      await openWith05ThenThis(start, projectId);
      assert.match(await refusalOf(start(of05.main)), isNewer(`The data folder ${folder.path}`));
    });
  });

  describeOnSharedEngines('on EventStoreDB and MongoDB', (engines) => {
    const nodes = new Nodes(engines);
    afterEach(() => nodes.end());
    const start = (main?: string, environment = {}) =>
      nodes.begin(undefined, { ...keptDataEnvironment, ...environment }, main);

    it('stop a start where 0.4.0 has written them, until 0.5.0 has opened them, and stop 0.5.0 afterwards', async function () {
      this.timeout(testTimeoutMs);
      const before = await start(of04.main).listening();
      const projectId = await newProject(before.client);
      await before.stop();
      assert.match(await refusalOf(start()), isOlder('The database of READ_STORE_URL'));
      const newDatabase = new URL(engines.urls.readStoreUrl);
      newDatabase.pathname += '-new';
      const besideNewDatabase = start(undefined, { READ_STORE_URL: newDatabase.href });
      assert.match(await refusalOf(besideNewDatabase), isOlder('The log of EVENT_STORE_URL'));
      await openWith05ThenThis(start, projectId);
      assert.match(await refusalOf(start(of05.main)), isNewer('The log of EVENT_STORE_URL'));
    });
  });
});
