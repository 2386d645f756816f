import assert from 'node:assert/strict';
import type { FlowRecord, FlowVersionRecord } from '#domain/flow/record.ts';
import { characters, expectProblem, expectRecord, expectStatus, unknownId } from '#test/e2e/support/expect.ts';
import { serviceOfProject } from '#test/e2e/support/running-service.ts';
import { itInRounds } from '#test/support/run/long.ts';
import type { Client } from '#test/support/service/client.ts';
import { describeContract } from '#test/support/service/engines.ts';

type Versions = { versions: FlowVersionRecord[]; nextCursor?: string };

describeContract('flows and their versions over HTTP', (engines) => {
  const running = serviceOfProject(engines);
  let client: Client;
  let projectId: string;
  let flowsPath: string;

  before(async () => {
    client = running.client;
    projectId = expectStatus(await client.post<{ id: string }>('/v1/projects', { name: 'Contract' }), 201).id;
    flowsPath = `/v1/projects/${projectId}/flows`;
  });

  const created = async (body: object = {}) =>
    expectStatus(await client.post<FlowRecord>(flowsPath, { name: 'Flow', flowSchema: {}, ...body }), 201);
  const versionsOf = async (id: string) =>
    expectStatus(await client.get<Versions>(`/v1/flows/${id}/versions`), 200).versions;
  const withVersion = async () => {
    const flow = await created();
    const second = expectStatus(
      await client.post<FlowVersionRecord>(`/v1/flows/${flow.id}/versions`, { flowSchema: 2 }),
      201,
    );
    const [first] = await versionsOf(flow.id);
    assert.ok(first);
    return { flow, first, second };
  };

  describe('POST /v1/projects/{projectId}/flows', () => {
    it('creates a flow with 201 and its record, by default simple, standard and without description or profile', async () => {
      const reply = await client.post<FlowRecord>(flowsPath, { name: 'Hours', flowSchema: { a: [1] }, unknown: true });
      const flow = expectStatus(reply, 201);
      const fields = { projectId, name: 'Hours', type: 'simple', description: null, tier: 'standard' };
      expectRecord(flow, { ...fields, agentProfileId: null });
      assert.match(reply.headers.etag ?? '', /^"\d+"$/);
      assert.match(reply.headers['switchyard-position'] ?? '', /^\d+$/);
      assert.equal(flow.createdAt, flow.updatedAt);
    });

    it('creates version 1 with tag v1, active, with the given schema', async () => {
      for (const flowSchema of [{ a: { b: [null, 1.5, 'x', true] } }, [], 'text', 0, false, null]) {
        const flow = await created({ flowSchema });
        const versions = await versionsOf(flow.id);
        assert.equal(versions.length, 1);
        expectRecord(versions[0], { flowId: flow.id, version: 1, tag: 'v1', flowSchema, isActive: true });
      }
    });

    it('accepts every member at its limits, and null where the record may have null', async () => {
      for (const body of [
        { name: 'x' },
        { name: characters(200) },
        { description: '' },
        { description: characters(5_000) },
        { description: null },
        { type: 'simple' },
        { type: 'graph' },
        { agentProfileId: null },
      ]) {
        const flow = await created(body);
        for (const [name, value] of Object.entries(body)) assert.equal(flow[name as keyof FlowRecord], value);
      }
    });

    it('refuses members beyond their limits with 422 and pointers', async () => {
      const good = { name: 'Flow', flowSchema: {} };
      for (const [body, ...pointers] of [
        [{ ...good, name: '' }, '/name'],
        [{ ...good, name: characters(201) }, '/name'],
        [{ ...good, name: 5 }, '/name'],
        [{ ...good, name: null }, '/name'],
        [{ flowSchema: {} }, '/name'],
        [{ name: 'Flow' }, '/flowSchema'],
        [{ ...good, description: characters(5_001) }, '/description'],
        [{ ...good, description: 1 }, '/description'],
        [{ ...good, type: 'other' }, '/type'],
        [{ ...good, type: null }, '/type'],
        [{ ...good, agentProfileId: 'profile-1' }, '/agentProfileId'],
        [{ ...good, agentProfileId: 7 }, '/agentProfileId'],
        [{ description: 1, type: 2 }, '/name', '/flowSchema', '/description', '/type'],
      ] as ReadonlyArray<[object, ...string[]]>) {
        expectProblem(await client.post(flowsPath, body), 422, 'invalid-input', pointers);
      }
      expectProblem(await client.post(flowsPath), 422, 'invalid-input', ['/name', '/flowSchema']);
    });

    it('answers 404 for an unknown project and for an unknown or foreign agent profile', async () => {
      const body = { name: 'Flow', flowSchema: {} };
      expectProblem(await client.post(`/v1/projects/${unknownId}/flows`, body), 404, 'project-not-found');
      expectProblem(await client.post('/v1/projects/1/flows', body), 404, 'project-not-found');
      const other = expectStatus(await client.post<{ id: string }>('/v1/projects', { name: 'Other' }), 201);
      const foreign = expectStatus(
        await client.post<{ id: string }>(`/v1/projects/${other.id}/agent-profiles`, {
          name: 'P',
          flowIds: [],
          isDefault: false,
          supportedInputLanguages: [],
          reasoningMode: '',
          outputVoiceId: '',
        }),
        201,
      );
      for (const agentProfileId of [unknownId, foreign.id, `${projectId}zzzzzzzz`]) {
        expectProblem(await client.post(flowsPath, { ...body, agentProfileId }), 404, 'agent-profile-not-found');
      }
    });
  });

  describe('GET, PATCH and DELETE /v1/flows/{flowId}', () => {
    it('returns a flow with its ETag, and lists it', async () => {
      const flow = await created({ description: 'd' });
      const reply = await client.get<FlowRecord>(`/v1/flows/${flow.id}`);
      assert.deepEqual(expectStatus(reply, 200), flow);
      assert.match(reply.headers.etag ?? '', /^"\d+"$/);
      const { flows } = expectStatus(await client.get<{ flows: FlowRecord[] }>(flowsPath), 200);
      assert.deepEqual(
        flows.find(({ id }) => id === flow.id),
        flow,
      );
    });

    it('changes given members, clears by null, keeps absent members and ignores unknown ones', async () => {
      const flow = await created({ description: 'd' });
      const path = `/v1/flows/${flow.id}`;
      const renamed = expectStatus(await client.patch(path, { name: 'New', type: 'graph', tier: 'pro', x: 1 }), 200);
      expectRecord(renamed, { ...flow, name: 'New' });
      const cleared = expectStatus(await client.patch(path, { description: null }), 200);
      expectRecord(cleared, { ...flow, name: 'New', description: null });
      const described = expectStatus(await client.patch(path, { description: '' }), 200);
      expectRecord(described, { ...flow, name: 'New', description: '' });
      assert.deepEqual(expectStatus(await client.get(path), 200), described);
    });

    it('answers an update that changes nothing with 200 and the same ETag', async () => {
      const flow = await created();
      const path = `/v1/flows/${flow.id}`;
      const { etag } = (await client.get(path)).headers;
      for (const body of [undefined, {}, { name: flow.name }, { description: null }]) {
        const reply = await client.patch(path, body);
        assert.deepEqual(expectStatus(reply, 200), flow);
        assert.equal(reply.headers.etag, etag);
      }
    });

    it('enforces the limits of members in an update', async () => {
      const path = `/v1/flows/${(await created()).id}`;
      expectStatus(await client.patch(path, { name: characters(200), description: characters(5_000) }), 200);
      const body = { name: characters(201), description: characters(5_001), agentProfileId: '' };
      const pointers = ['/name', '/description', '/agentProfileId'];
      expectProblem(await client.patch(path, body), 422, 'invalid-input', pointers);
      expectProblem(await client.patch(path, { name: '' }), 422, 'invalid-input', ['/name']);
      expectProblem(await client.patch(path, { name: null }), 422, 'invalid-input', ['/name']);
      expectProblem(await client.patch(path, { agentProfileId: unknownId }), 404, 'agent-profile-not-found');
    });

    it('deletes a flow with 204 without content, and answers 404 for all that belongs to it', async () => {
      const { flow, first, second } = await withVersion();
      const reply = await client.remove(`/v1/flows/${flow.id}`);
      expectStatus(reply, 204);
      assert.equal(reply.text, '');
      const path = `/v1/flows/${flow.id}`;
      expectProblem(await client.get(path), 404, 'flow-not-found');
      expectProblem(await client.patch(path, { name: 'x' }), 404, 'flow-not-found');
      expectProblem(await client.remove(path), 404, 'flow-not-found');
      expectProblem(await client.get(`${path}/versions`), 404, 'flow-not-found');
      expectProblem(await client.post(`${path}/versions`, { flowSchema: 1 }), 404, 'flow-not-found');
      expectProblem(await client.put(`${path}/tier`, { tier: 'pro' }), 404, 'flow-not-found');
      for (const { id } of [first, second]) {
        const version = `/v1/flow-versions/${id}`;
        expectProblem(await client.get(version), 404, 'flow-version-not-found');
        expectProblem(await client.patch(version, { tag: 'x' }), 404, 'flow-version-not-found');
        expectProblem(await client.post(`${version}/activate`), 404, 'flow-version-not-found');
        expectProblem(await client.remove(version), 404, 'flow-version-not-found');
      }
    });

    it('answers 404 for an unknown or malformed flow id, whatever the body', async () => {
      for (const id of [unknownId, '1', 'CAPITAL', 'c%00aaaaaa', 'cabc']) {
        expectProblem(await client.get(`/v1/flows/${id}`), 404, 'flow-not-found');
        expectProblem(await client.patch(`/v1/flows/${id}`, { name: 1 }), 404, 'flow-not-found');
        expectProblem(await client.remove(`/v1/flows/${id}`), 404, 'flow-not-found');
      }
    });

    it('changes the tier to standard or pro, and refuses any other', async () => {
      const flow = await created();
      const path = `/v1/flows/${flow.id}/tier`;
      expectRecord(expectStatus(await client.put(path, { tier: 'pro' }), 200), { ...flow, tier: 'pro' });
      expectRecord(expectStatus(await client.put(path, { tier: 'pro' }), 200), { ...flow, tier: 'pro' });
      expectRecord(expectStatus(await client.put(path, { tier: 'standard' }), 200), flow);
      for (const body of [{ tier: 'gold' }, { tier: null }, {}]) {
        expectProblem(await client.put(path, body), 422, 'invalid-input', ['/tier']);
      }
    });

    it('refuses a deletion with rejectIfInUse while a phone number refers to the flow', async () => {
      const flow = await created();
      const path = `/v1/flows/${flow.id}?rejectIfInUse=`;
      const numbers = `/v1/projects/${projectId}/phone-numbers`;
      const number = expectStatus(
        await client.post<{ id: string }>(numbers, { name: 'n', number: '+442071838751', flowId: flow.id }),
        201,
      );
      expectProblem(await client.remove(`${path}maybe`), 422, 'invalid-input', ['/rejectIfInUse']);
      expectProblem(await client.remove(`${path}true`), 409, 'flow-in-use');
      expectStatus(await client.patch(`/v1/phone-numbers/${number.id}/flow`, { flowId: null }), 200);
      expectStatus(await client.remove(`${path}true`), 204);

      const inUse = await created();
      expectStatus(await client.patch(`/v1/phone-numbers/${number.id}/flow`, { flowId: inUse.id }), 200);
      expectStatus(await client.remove(`/v1/flows/${inUse.id}?rejectIfInUse=false`), 204);
      const detached = expectStatus(await client.get<{ flowId: null }>(`/v1/phone-numbers/${number.id}`), 200);
      assert.equal(detached.flowId, null);
    });
  });

  describe('flow versions', () => {
    it('numbers versions per flow, tags them v{number}, inactive, and stores their contents unchanged', async () => {
      const flow = await created();
      const path = `/v1/flows/${flow.id}/versions`;
      for (const [index, flowSchema] of [{ a: 1 }, null, 'x', [1, [2]]].entries()) {
        const reply = await client.post<FlowVersionRecord>(path, { flowSchema });
        const version = index + 2;
        const expected = { flowId: flow.id, version, tag: `v${version}`, flowSchema, isActive: false };
        expectRecord(expectStatus(reply, 201), expected);
        const read = await client.get(`/v1/flow-versions/${reply.body.id}`);
        assert.deepEqual(expectStatus(read, 200), reply.body);
        assert.equal(read.headers.etag, reply.headers.etag);
        assert.equal((await client.get(`/v1/flows/${flow.id}`)).headers.etag, reply.headers.etag);
      }
      const versions = await versionsOf(flow.id);
      assert.deepEqual(
        versions.map(({ version }) => version),
        [1, 2, 3, 4, 5],
      );
      expectProblem(await client.post(path, {}), 422, 'invalid-input', ['/flowSchema']);
    });

    it('accepts a tag of 1 to 100 characters that need not be unique', async () => {
      const { first, second } = await withVersion();
      for (const tag of ['x', characters(100), first.tag]) {
        const tagged = expectStatus(await client.patch(`/v1/flow-versions/${second.id}`, { tag }), 200);
        expectRecord(tagged, { ...second, tag });
      }
      for (const tag of ['', characters(101), null, 5, undefined]) {
        const reply = await client.patch(`/v1/flow-versions/${second.id}`, { tag });
        expectProblem(reply, 422, 'invalid-input', ['/tag']);
      }
    });

    it('keeps one version active, and changes nothing when the active one is activated', async () => {
      const { flow, first, second } = await withVersion();
      const path = `/v1/flow-versions/${second.id}/activate`;
      const reply = await client.post(path);
      expectRecord(expectStatus(reply, 200), { ...second, isActive: true });
      const again = await client.post(path);
      assert.deepEqual(expectStatus(again, 200), reply.body);
      assert.equal(again.headers.etag, reply.headers.etag);
      const versions = await versionsOf(flow.id);
      assert.deepEqual(
        versions.map(({ id, isActive }) => [id, isActive]),
        [
          [first.id, false],
          [second.id, true],
        ],
      );
    });

    it('deletes an inactive version with its record and then with null, and never reuses its number', async () => {
      const { flow, first, second } = await withVersion();
      expectProblem(await client.remove(`/v1/flow-versions/${first.id}`), 409, 'flow-version-active');
      const deleted = expectStatus(await client.remove(`/v1/flow-versions/${second.id}`), 200);
      expectRecord(deleted, second);
      const again = await client.remove<null>(`/v1/flow-versions/${second.id}`);
      assert.equal(expectStatus(again, 200), null);
      assert.equal(again.text, 'null');
      const path = `/v1/flow-versions/${second.id}`;
      expectProblem(await client.get(path), 404, 'flow-version-not-found');
      expectProblem(await client.patch(path, { tag: 'x' }), 404, 'flow-version-not-found');
      expectProblem(await client.post(`${path}/activate`), 404, 'flow-version-not-found');
      assert.equal((await versionsOf(flow.id)).length, 1);
      const next = await client.post<FlowVersionRecord>(`/v1/flows/${flow.id}/versions`, { flowSchema: 3 });
      assert.equal(expectStatus(next, 201).version, 3);
    });

    it('answers 404 for unknown flow versions', async () => {
      const { flow } = await withVersion();
      for (const id of [unknownId, `${flow.id}zzzzzzzz`, 'nothing', flow.id]) {
        const path = `/v1/flow-versions/${id}`;
        expectProblem(await client.get(path), 404, 'flow-version-not-found');
        expectProblem(await client.patch(path, { tag: '' }), 404, 'flow-version-not-found');
        expectProblem(await client.post(`${path}/activate`), 404, 'flow-version-not-found');
        expectProblem(await client.remove(path), 404, 'flow-version-not-found');
      }
      expectProblem(await client.get(`/v1/flows/${unknownId}/versions`), 404, 'flow-not-found');
      expectProblem(await client.post(`/v1/flows/${unknownId}/versions`, {}), 404, 'flow-not-found');
    });
  });

  itInRounds(
    'shows a client’s own write immediately, in lists too, under load',
    { few: 2, many: 12 },
    async (rounds) => {
      const { id: contended } = await created();
      const project = expectStatus(await client.post<{ id: string }>('/v1/projects', { name: 'Load' }), 201);
      const path = `/v1/projects/${project.id}/flows`;
      const isListed = async (flowId: string) =>
        (await client.get<{ flows: FlowRecord[] }>(path)).body.flows.some(({ id }) => id === flowId);
      await Promise.all(
        Array.from({ length: 24 }, async (_, worker) => {
          for (let round = 0; round < rounds; round += 1) {
            const flow = expectStatus(
              await client.post<FlowRecord>(path, { name: `Flow ${worker}`, flowSchema: 1 }),
              201,
            );
            assert.ok(await isListed(flow.id), 'not in the list');
            const flowPath = `/v1/flows/${flow.id}`;
            const name = `${worker} ${round}`;
            expectStatus(await client.patch(flowPath, { name }), 200);
            assert.equal((await client.get<FlowRecord>(flowPath)).body.name, name);
            const versions = `/v1/flows/${contended}/versions`;
            const version = expectStatus(await client.post<FlowVersionRecord>(versions, { flowSchema: name }), 201);
            expectStatus(await client.get(`/v1/flow-versions/${version.id}`), 200);
            expectStatus(await client.remove(flowPath), 204);
            assert.ok(!(await isListed(flow.id)), 'still in the list');
          }
        }),
      );
    },
  );
});
