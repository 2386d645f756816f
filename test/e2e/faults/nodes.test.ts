import assert from 'node:assert/strict';
import type { FlowRecord } from '#domain/flow/record.ts';
import { expectProblem, expectStatus, unknownId } from '#test/e2e/support/expect.ts';
import { freshNumber } from '#test/e2e/support/operations.ts';
import type { Client, Reply } from '#test/support/service/client.ts';
import { describeOnSharedEngines, type SharedEngines } from '#test/support/service/engines.ts';
import { Nodes } from '#test/support/service/nodes.ts';
import { type ServiceProcess, until } from '#test/support/service/service-process.ts';

type Named = { readonly id: string };
type Check = { readonly name: string; readonly ready: boolean; readonly detail: string };

const positionOf = (reply: Reply<unknown>) => reply.headers['switchyard-position'] ?? '';

describeOnSharedEngines('nodes with roles of their own', (engines) => {
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

  /** Reads on a node what is at least as new as a position; what it refuses is asked again. */
  const readAt = async <T>(client: Client, path: string, position: string): Promise<T> => {
    const headers = { 'switchyard-min-position': position };
    for (let tries = 0; ; tries += 1) {
      const reply = await client.get<T>(path, headers);
      if (reply.status === 200) return reply.body;
      expectProblem(reply, 503, 'read-model-behind');
      assert.ok(tries < 20, `${path} does not reach ${position}`);
    }
  };

  it('read on one what was written on another, never older', async () => {
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

  it('decide on what another has written, without waiting for the read models', async () => {
    const flow = expectStatus(await control.client.post<Named>(flowsPath, { name: 'F', flowSchema: 1 }), 201);
    const path = `/v1/flows/${flow.id}`;
    const { etag = '' } = (await control.client.get(path)).headers;
    for (const [index, { client }] of [otherControl, control, otherControl, control].entries()) {
      expectStatus(await client.patch(path, { name: `Name ${index}` }), 200);
    }
    expectProblem(await control.client.patch(path, { name: 'Late' }, { 'if-match': etag }), 412, 'precondition-failed');
    const renames = Array.from({ length: 12 }, (_, index) =>
      (index % 2 === 0 ? control : otherControl).client.patch(path, { name: `Race ${index}` }),
    );
    for (const reply of await Promise.all(renames)) expectStatus(reply, 200);
  });

  it('let processes run elsewhere, and show what these do', async () => {
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
    const read = async () =>
      expectStatus(await control.client.get<{ flowId: string | null }>(`/v1/phone-numbers/${number.id}`), 200).flowId;
    const deadline = performance.now() + 10_000;
    while ((await read()) !== null) assert.ok(performance.now() < deadline, 'the number is not detached');
  });

  it('answer their own plane, and of the others nothing', async () => {
    const store = expectStatus(await gateway.client.post<Named>('/v1/stores', { name: 'S' }), 200);
    assert.equal((await gateway.client.get(`/v1/stores/${store.id}`)).status, 200);
    for (const { client } of [gateway, projecting]) {
      expectProblem(await client.get(flowsPath), 404, 'path-not-found');
      expectProblem(await client.get(`/v1/flows/${unknownId}`), 404, 'path-not-found');
      expectProblem(await client.as(null).get(flowsPath), 401, 'key-required', [], 'both planes');
      assert.equal((await client.get('/openapi.json')).status, 404);
    }
    for (const { client } of [control, projecting]) assert.equal((await client.get('/v1/stores')).status, 404);
    for (const { client } of [control, gateway]) expectStatus(await client.get('/v1/me'), 200);
    expectProblem(await projecting.client.get('/v1/me'), 404, 'path-not-found');
    const { paths } = expectStatus(await control.client.get<{ paths: object }>('/openapi.json'), 200);
    assert.ok('/v1/chat/completions' in paths, 'what gateway nodes answer is documented here');
    assert.equal((await control.client.post('/v1/chat/completions', {})).status, 404);
  });

  it('tell how they are, whatever their role', async () => {
    for (const node of [control, gateway, projecting, otherControl]) {
      const { client } = node;
      expectStatus(await client.as(null).get('/healthz'), 200);
      assert.match(
        (await client.as(null).get('/metrics')).text,
        /switchyard_projection_lag_positions\{projection="flows"\} \d/,
      );
      // A lease that was lost on a busy machine is taken again.
      const shown = new RegExp(`^live on \\S+-${projecting.pid}-\\w+, token \\d+$`);
      const checks = await until(async () => {
        const asked = (await client.get<{ checks: Check[] }>('/readyz')).body.checks;
        return shown.test(asked[2]?.detail ?? '') && asked;
      }, 20_000);
      assert.deepEqual(
        checks?.map(({ name }) => name),
        ['event-store', 'read-store', 'projections', 'processes'],
      );
    }
  });
});

const startTogether = (engines: SharedEngines) => {
  const nodes = new Nodes(engines);
  afterEach(() => nodes.end());

  it('at once on empty stores print one key between them, and it is good on each', async function () {
    this.timeout(180_000);
    const begun = Array.from({ length: 3 }, () => nodes.begin(undefined, { BOOTSTRAP_API_KEY: undefined }));
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

describeOnSharedEngines('nodes that start', startTogether, 'empty');
