import assert from 'node:assert/strict';
import type { FlowRecord } from '#domain/flow/record.ts';
import { expectProblem, expectStatus, unknownId } from '#test/e2e/support/expect.ts';
import { freshNumber } from '#test/e2e/support/operations.ts';
import { long } from '#test/support/run/long.ts';
import type { Client, Reply } from '#test/support/service/client.ts';
import { describeOnSharedEngines, type SharedEngines } from '#test/support/service/engines.ts';
import { Nodes } from '#test/support/service/nodes.ts';
import { poll, type ServiceProcess } from '#test/support/service/service-process.ts';

type Named = { readonly id: string };
type Check = { readonly name: string; readonly ready: boolean; readonly detail: string };

/** The limit of a wait. It only keeps a test from hanging. */
const settleTimeoutMs = 120_000;

const positionOf = (reply: Reply<unknown>) => reply.headers['switchyard-position'] ?? '';

describeOnSharedEngines('nodes with separate roles', (engines) => {
  const nodes = new Nodes(engines);
  let control: ServiceProcess;
  let gateway: ServiceProcess;
  let projecting: ServiceProcess;
  let otherControl: ServiceProcess;
  let flowsPath: string;

  before(async function () {
    this.timeout(180_000);
    const begun = [
      nodes.begin('control-plane'),
      nodes.begin('gateway'),
      nodes.begin('projections'),
      nodes.begin('control-plane'),
    ] as const;
    [control, gateway, projecting, otherControl] = begun;
    await Promise.all(begun.map((node) => node.listening()));
    const { id } = expectStatus(await control.client.post<Named>('/v1/projects', { name: 'Nodes' }), 201);
    flowsPath = `/v1/projects/${id}/flows`;
  });

  after(() => nodes.end());

  /** Reads on a node with a minimum position, and retries refused reads. */
  const readAt = async <T>(client: Client, path: string, position: string): Promise<T> => {
    const headers = { 'switchyard-min-position': position };
    for (let tries = 0; ; tries += 1) {
      const reply = await client.get<T>(path, headers);
      if (reply.status === 200) return reply.body;
      expectProblem(reply, 503, 'read-model-behind');
      assert.ok(tries < 20, `${path} does not reach ${position}`);
    }
  };

  it('reads on one node what was written on another, at the required position', async () => {
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        for (let round = 0; round < 5; round += 1) {
          const made = await control.client.post<FlowRecord>(flowsPath, { name: 'F', flowSchema: 1 });
          const path = `/v1/flows/${expectStatus(made, 201).id}`;
          assert.deepEqual(await readAt(otherControl.client, path, positionOf(made)), made.body);
          const name = `Round ${round}`;
          const renamed = await otherControl.client.patch<FlowRecord>(path, { name });
          expectStatus(renamed, 200);
          assert.equal((await readAt<FlowRecord>(control.client, path, positionOf(renamed))).name, name);
        }
      }),
    );
  });

  it('decides on another node’s writes without waiting for the read models', async () => {
    const created = await control.client.post<Named>(flowsPath, { name: 'F', flowSchema: 1 });
    const path = `/v1/flows/${expectStatus(created, 201).id}`;
    const { etag = 'no ETag' } = created.headers;
    for (const [index, { client }] of [otherControl, control, otherControl, control].entries()) {
      expectStatus(await client.patch(path, { name: `Name ${index}` }), 200);
    }
    expectProblem(await control.client.patch(path, { name: 'Late' }, { 'if-match': etag }), 412, 'precondition-failed');
    const renames = Array.from({ length: 12 }, (_, index) =>
      (index % 2 === 0 ? control : otherControl).client.patch(path, { name: `Race ${index}` }),
    );
    for (const reply of await Promise.all(renames)) expectStatus(reply, 200);
  });

  it('runs processes on another node, and shows their effects', async () => {
    const flow = expectStatus(await control.client.post<Named>(flowsPath, { name: 'F', flowSchema: 1 }), 201);
    const number = expectStatus(
      await control.client.post<Named>(flowsPath.replace('/flows', '/phone-numbers'), {
        name: 'N',
        number: freshNumber(),
        flowId: flow.id,
      }),
      201,
    );
    expectStatus(await control.client.remove(`/v1/flows/${flow.id}`), 204);
    const isDetached = async () => {
      const reply = await control.client.get<{ flowId: string | null }>(`/v1/phone-numbers/${number.id}`);
      // On a busy machine the read models of the other node may not show the number yet.
      return reply.status === 200 && reply.body.flowId === null;
    };
    assert.ok(await poll(isDetached, settleTimeoutMs), 'the number is not detached');
  });

  it('answers only the operations of its own plane on each node', async () => {
    const store = expectStatus(await gateway.client.post<Named>('/v1/stores', { name: 'S' }), 200);
    assert.equal((await gateway.client.get(`/v1/stores/${store.id}`)).status, 200);
    for (const { client } of [gateway, projecting]) {
      const elsewhere = await client.get<{ detail: string }>(flowsPath);
      expectProblem(elsewhere, 404, 'path-not-found');
      assert.match(elsewhere.body.detail, /role control-plane/);
      expectProblem(await client.get(`/v1/flows/${unknownId}`), 404, 'path-not-found');
      expectProblem(await client.as(null).get(flowsPath), 401, 'key-required', [], 'both planes');
      assert.equal((await client.get('/openapi.json')).status, 404);
    }
    for (const { client } of [control, projecting]) assert.equal((await client.get('/v1/stores')).status, 404);
    for (const { client } of [control, gateway]) expectStatus(await client.get('/v1/me'), 200);
    expectProblem(await projecting.client.get('/v1/me'), 404, 'path-not-found');
    const { paths } = expectStatus(await control.client.get<{ paths: object }>('/openapi.json'), 200);
    assert.ok('/v1/chat/completions' in paths, 'operations of gateway nodes are documented here');
    const chat = await control.client.post<{ error: { message: string } }>('/v1/chat/completions', {});
    assert.equal(chat.status, 404);
    assert.match(chat.body.error.message, /role gateway/);
  });

  it('accepts a new key on every node immediately, and refuses a revoked one, while the read models do not advance', async () => {
    const { projectId } = expectStatus(await control.client.get('/v1/me'), 200);
    projecting.freeze();
    try {
      const made = await control.client.post<{ id: string; key: string }>(`/v1/projects/${projectId}/keys`, {
        name: 'K',
        keyType: 'project',
      });
      const { id, key } = expectStatus(made, 201);
      for (const node of [gateway, control, otherControl]) assert.equal(await statusOf(node, key), 200);
      expectStatus(await control.client.remove(`/v1/keys/${id}`), 200);
      assert.equal(await statusOf(control, key), 401);
      for (const node of [gateway, otherControl]) {
        const isRefused = async () => (await statusOf(node, key)) === 401;
        assert.ok(await poll(isRefused, settleTimeoutMs), 'another node still accepts the key');
      }
    } finally {
      projecting.thaw();
    }
  });

  it('reports health, metrics and readiness on nodes of every role', async () => {
    for (const node of [control, gateway, projecting, otherControl]) {
      const { client } = node;
      expectStatus(await client.as(null).get('/healthz'), 200);
      assert.match(
        (await client.as(null).get('/metrics')).text,
        /switchyard_projection_lag_positions\{projection="flows"\} \d/,
      );
      // On a busy machine the node may lose its lease for a moment.
      const shown = new RegExp(`^live on \\S+-${projecting.pid}-\\w+, token \\d+$`);
      const checks = await poll(async () => {
        const asked = (await client.get<{ checks: Check[] }>('/readyz')).body.checks;
        return shown.test(asked[2]?.detail ?? '') && asked;
      }, settleTimeoutMs);
      assert.deepEqual(
        checks?.map(({ name }) => name),
        ['event-store', 'read-store', 'projections', 'processes', 'batches', 'history'],
      );
    }
  });
});

const statusOf = async ({ client }: ServiceProcess, key: string) => (await client.as(key).get('/v1/me')).status;

const startTogether = (engines: SharedEngines) => {
  const nodes = new Nodes(engines);
  afterEach(() => nodes.end());

  it(`prints one bootstrap key for four nodes that start together, and every node accepts it ${long}`, async function () {
    this.timeout(180_000);
    const begun = Array.from({ length: 4 }, () => nodes.begin(undefined, { BOOTSTRAP_API_KEY: undefined }));
    await Promise.all(begun.map((node) => node.listening()));
    const keys = begun.flatMap(({ stdout }) => stdout.match(/sy_live_[A-Za-z0-9]+/g) ?? []);
    assert.equal(keys.length, 1, JSON.stringify(keys.length));
    for (const { client } of begun) expectStatus(await client.as(keys[0] ?? '').get('/v1/me'), 200);
    const organizations = await begun[0]?.client
      .as(keys[0] ?? '')
      .get<{ organizations: unknown[] }>('/v1/organizations');
    assert.equal(organizations?.body.organizations.length, 1);
  });
};

describeOnSharedEngines('nodes that start together', startTogether, 'empty');
