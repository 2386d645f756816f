import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { expectProblem, expectStatus } from '#test/e2e/support/expect.ts';
import { long } from '#test/support/run/long.ts';
import type { Client } from '#test/support/service/client.ts';
import { describeOnSharedEngines } from '#test/support/service/engines.ts';
import { Nodes } from '#test/support/service/nodes.ts';
import { poll, type ServiceProcess } from '#test/support/service/service-process.ts';

interface MadeKey {
  readonly id: string;
  readonly key: string;
}

/** Far more than the usual second: this test measures no times. */
const limitMs = 30_000;

describeOnSharedEngines(
  `API keys on nodes whose read models do not advance ${long}`,
  (engines) => {
    const nodes = new Nodes(engines);
    let control: ServiceProcess;
    let gateway: ServiceProcess;
    let projecting: ServiceProcess;
    let keysPath: string;

    before(async function () {
      this.timeout(180_000);
      const begun = [nodes.begin('control-plane'), nodes.begin('gateway'), nodes.begin('projections')] as const;
      [control, gateway, projecting] = begun;
      await Promise.all(begun.map((node) => node.listening()));
      const { projectId } = expectStatus(await control.client.get('/v1/me'), 200);
      keysPath = `/v1/projects/${projectId}/keys`;
    });

    afterEach(() => {
      projecting.thaw();
      engines.double.thaw();
    });

    after(() => nodes.end());

    const makeKey = async () =>
      expectStatus(await control.client.post<MadeKey>(keysPath, { name: 'K', keyType: 'project' }), 201);
    const statusOf = async (node: { readonly client: Client }, key: string) =>
      (await node.client.as(key).get('/v1/me')).status;
    const isRefusedOn = (node: ServiceProcess, key: string) =>
      poll(async () => (await statusOf(node, key)) === 401, limitMs);

    it('refuses a revoked key on every node', async () => {
      const { id, key } = await makeKey();
      for (const node of [control, gateway]) assert.equal(await statusOf(node, key), 200);
      projecting.freeze();
      expectStatus(await control.client.remove(`/v1/keys/${id}`), 200);
      assert.equal(await statusOf(control, key), 401);
      assert.ok(await isRefusedOn(gateway, key), 'the other node still accepts the key');
      expectProblem(await control.client.as(key).post(keysPath, { name: 'K', keyType: 'project' }), 401, 'key-invalid');
    });

    it('accepts a new or rotated key on every node immediately, and its replaced secret on none', async () => {
      projecting.freeze();
      const { id, key } = await makeKey();
      for (const node of [gateway, control]) assert.equal(await statusOf(node, key), 200);
      const rotated = expectStatus(await control.client.post<MadeKey>(`/v1/keys/${id}/rotate`), 200);
      for (const node of [gateway, control]) assert.equal(await statusOf(node, rotated.key), 200);
      assert.equal(await statusOf(control, key), 401);
      assert.ok(await isRefusedOn(gateway, key), 'the other node still accepts the replaced secret');
    });

    it('accepts a key on a node that starts while the read models lack it', async () => {
      projecting.freeze();
      const [kept, revoked] = [await makeKey(), await makeKey()];
      expectStatus(await control.client.remove(`/v1/keys/${revoked.id}`), 200);
      const client = await nodes.begin('gateway').announced();
      assert.equal(await statusOf({ client }, kept.key), 200);
      assert.equal(await statusOf({ client }, revoked.key), 401);
    });

    it('accepts a known key for reads while the event store is unavailable, and refuses its writes', async () => {
      const { key } = await makeKey();
      const unused = await makeKey();
      assert.equal(await statusOf(gateway, key), 200);
      engines.double.freeze();
      // More than the second for which a node uses its cached keys without checking them.
      await sleep(1_500);
      for (let count = 0; count < 5; count += 1) assert.equal(await statusOf(gateway, key), 200);
      expectStatus(await gateway.client.as(key).get('/v1/stores'), 200);
      assert.equal((await gateway.client.as(key).post('/v1/stores', { name: 'S' })).status, 503);
      assert.equal(await statusOf(gateway, unused.key), 503);
      engines.double.thaw();
      const isBack = async () => (await gateway.client.as(key).post('/v1/stores', { name: 'S' })).status === 200;
      assert.ok(await poll(isBack, limitMs), 'commands are still refused');
      assert.equal(await statusOf(gateway, unused.key), 200);
    });
  },
  'empty',
);
