import assert from 'node:assert/strict';
import { MongoClient } from 'mongodb';
import { dropOldReadModels } from '#read-store/mongodb/drop-old-read-models.ts';
import { expectConsistent } from '#test/e2e/support/consistent-stores.ts';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { SettlingLoad } from '#test/e2e/support/settling-load.ts';
import { long } from '#test/support/run/long.ts';
import type { Client } from '#test/support/service/client.ts';
import { describeOnSharedEngines } from '#test/support/service/engines.ts';
import { Nodes } from '#test/support/service/nodes.ts';
import { checkOutRelease, type ReleaseCheckout } from '#test/support/service/release-checkout.ts';
import { poll, type ServiceProcess } from '#test/support/service/service-process.ts';

type NewKey = { readonly id: string; readonly key: string };

/** The last commit of the release before, whose processes each have a lease of their own. */
const releaseBefore = 'a58340cb0e2632eb131e19766c9da49875cd2561';
const settleTimeoutMs = 120_000;
const testTimeoutMs = 600_000;

describeOnSharedEngines(
  `a node of this release and one of the release before ${long}`,
  (engines) => {
    const nodes = new Nodes(engines);
    let olderRelease: ReleaseCheckout;

    before(function () {
      this.timeout(testTimeoutMs);
      olderRelease = checkOutRelease(releaseBefore);
    });
    after(() => olderRelease?.remove());
    afterEach(() => nodes.end());

    const startOlder = () => nodes.begin(undefined, {}, olderRelease.main).listening();

    it('do each step of the processes once and lose none: one after the other, then beside each other', async function () {
      this.timeout(testTimeoutMs);
      const older = await startOlder();
      const olderLoad = await SettlingLoad.begin(older.client);
      const keys = await makeKeys(older.client);
      await olderLoad.expectMore(30);
      // It starts beside the older node, whose processes may still be behind when it is killed.
      const newer = nodes.begin();
      await newer.announced();
      const waits = async () => (await processesDetail(newer.client)).includes('until nodes of the release before end');
      assert.ok(await poll(waits, settleTimeoutMs), 'the newer node does not say for which node it waits');
      await olderLoad.expectMore(10);
      await keys.revoke(older.client);
      await olderLoad.stop();
      await older.kill();
      await newer.listening();
      await keys.expectRevoked(newer.client);

      const newerLoad = await SettlingLoad.begin(newer.client);
      const otherKeys = await makeKeys(newer.client);
      await newerLoad.expectMore(10);
      // It does not become ready, because this release publishes the positions of read models elsewhere.
      const olderAgain: ServiceProcess = nodes.begin(undefined, {}, olderRelease.main);
      await olderAgain.announced();
      await newerLoad.expectMore(30);
      await otherKeys.revoke(newer.client);
      await otherKeys.expectRevoked(newer.client);
      await newerLoad.expectMore(10);
      await newerLoad.stop();
      await olderAgain.stop();
      await expectConsistent(engines.urls, [...olderLoad.acknowledged, ...newerLoad.acknowledged]);
    });

    it('make separate read models, so that each finds its own after an upgrade and after a return', async function () {
      this.timeout(testTimeoutMs);
      const older = await startOlder();
      const project = expectStatus(await older.client.post<{ id: string }>('/v1/projects', { name: 'Kept' }), 201);
      const flows = `/v1/projects/${project.id}/flows`;
      const make = async ({ client }: ServiceProcess, name: string) =>
        expectStatus(await client.post(flows, { name, flowSchema: {} }), 201);
      const names = async ({ client }: ServiceProcess) =>
        expectStatus(await client.get<{ flows: ReadonlyArray<{ name: string }> }>(flows), 200).flows.map(
          ({ name }) => name,
        );
      await make(older, 'one');
      await older.stop();
      const before = await oldReadModels(engines.urls.readStoreUrl);
      assert.ok(before.includes('readModels'));

      const newer = await nodes.begin().listening();
      await make(newer, 'two');
      assert.deepEqual(await names(newer), ['one', 'two']);
      await newer.stop();
      assert.deepEqual(await oldReadModels(engines.urls.readStoreUrl), before);

      const olderAgain = await startOlder();
      await make(olderAgain, 'three');
      assert.deepEqual(await names(olderAgain), ['one', 'two', 'three']);
      await olderAgain.stop();

      const newerAgain = await nodes.begin().listening();
      assert.deepEqual(await names(newerAgain), ['one', 'two', 'three']);
      assert.ok((await dropOldReadModels({ url: engines.urls.readStoreUrl })).length > 20);
      assert.deepEqual(await oldReadModels(engines.urls.readStoreUrl), []);
      assert.deepEqual(await names(newerAgain), ['one', 'two', 'three']);
      await newerAgain.stop();
    });
  },
  'empty',
);

/** Returns the names of the collections of the read models of the release before. */
async function oldReadModels(url: string): Promise<ReadonlyArray<string>> {
  const client = new MongoClient(url);
  try {
    const all = await client.db().listCollections({}, { nameOnly: true }).toArray();
    return all
      .map(({ name }) => name)
      .filter((name) => /^(documents\d+|readModels|counters)$/.test(name))
      .toSorted();
  } finally {
    await client.close();
  }
}

/** Returns what `/readyz` says of the processes. */
async function processesDetail(client: Client): Promise<string> {
  const { body } = await client.get<{ checks: ReadonlyArray<{ name: string; detail: string }> }>('/readyz');
  return body.checks.find(({ name }) => name === 'processes')?.detail ?? '';
}

/** Makes keys, each by the key before, so that a process revokes all but the first one. */
async function makeKeys(admin: Client) {
  const project = expectStatus(await admin.post<{ id: string }>('/v1/projects', { name: 'Keys' }), 201);
  const keys: NewKey[] = [];
  for (let maker = admin; keys.length < 5; maker = admin.as(keys.at(-1)?.key ?? '')) {
    const made = await maker.post<NewKey>(`/v1/projects/${project.id}/keys`, { name: 'K', keyType: 'admin' });
    keys.push(expectStatus(made, 201));
  }
  const [first] = keys;
  assert.ok(first);
  return {
    revoke: async (client: Client) => {
      expectStatus(await client.remove(`/v1/keys/${first.id}?descendants=true`), 200);
    },
    expectRevoked: async (client: Client) => {
      for (const { key } of keys) {
        const isRefused = async () => (await client.as(key).get('/v1/me')).status === 401;
        assert.ok(await poll(isRefused, settleTimeoutMs), 'a key that a revoked one has made is still accepted');
      }
    },
  };
}
