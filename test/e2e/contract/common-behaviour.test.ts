import assert from 'node:assert/strict';
import type { FlowRecord, FlowVersionRecord } from '#domain/flow/record.ts';
import { expectProblem, expectStatus, unknownId } from '#test/e2e/support/expect.ts';
import { freshNumber, profileContents } from '#test/e2e/support/operations.ts';
import { runningService } from '#test/e2e/support/running-service.ts';
import { long } from '#test/support/run/long.ts';
import type { Client, Reply } from '#test/support/service/client.ts';
import { describeContract } from '#test/support/service/engines.ts';

type Named = { readonly id: string };

describeContract('common behaviour of all operations over HTTP', (engines) => {
  const running = runningService(engines, { READ_YOUR_WRITES_TIMEOUT_MS: undefined });
  let client: Client;
  let projectId: string;
  let flowsPath: string;

  before(() => {
    client = running.client;
  });

  beforeEach(async () => {
    projectId = expectStatus(await client.post<Named>('/v1/projects', { name: 'Project' }), 201).id;
    flowsPath = `/v1/projects/${projectId}/flows`;
  });

  const restart = async () => {
    client = await running.restarted();
  };
  const newFlow = async (body: object = {}) =>
    expectStatus(await client.post<FlowRecord>(flowsPath, { name: 'Flow', flowSchema: 1, ...body }), 201);
  const listFlows = async () => expectStatus(await client.get<{ flows: FlowRecord[] }>(flowsPath), 200).flows;

  describe('ETag and If-Match', () => {
    it('accepts a write only with the newest ETag in If-Match', async () => {
      const { id } = await newFlow();
      const path = `/v1/flows/${id}`;
      const first = (await client.get(path)).headers.etag ?? '';
      const second = await client.patch(path, { name: 'Two' }, { 'if-match': first });
      expectStatus(second, 200);
      assert.notEqual(second.headers.etag, first);
      assert.equal((await client.get(path)).headers.etag, second.headers.etag);
      const versions = `${path}/versions`;
      for (const tag of [first, '"999"', '"x"', `W/${second.headers.etag}`, 'nonsense']) {
        const headers = { 'if-match': tag };
        expectProblem(await client.patch(path, { name: 'Three' }, headers), 412, 'precondition-failed');
        expectProblem(await client.post(versions, { flowSchema: 1 }, headers), 412, 'precondition-failed');
        expectProblem(await client.remove(path, headers), 412, 'precondition-failed');
      }
      expectStatus(await client.patch(path, { name: 'Three' }, { 'if-match': '*' }), 200);
      const newest = (await client.get(path)).headers.etag ?? '';
      expectStatus(await client.remove(path, { 'if-match': newest }), 204);
    });

    it('changes a flow’s ETag with its versions, and a profile’s ETag with every event that changes the profile', async () => {
      const flow = await newFlow();
      const added = await client.post<Named>(`/v1/flows/${flow.id}/versions`, { flowSchema: 2 });
      expectStatus(await client.patch(`/v1/flows/${flow.id}`, { name: 'Renamed' }), 200);
      const version = `/v1/flow-versions/${added.body.id}`;
      const stale = { 'if-match': added.headers.etag ?? '' };
      expectProblem(await client.patch(version, { tag: 't' }, stale), 412, 'precondition-failed');
      const { etag = '' } = (await client.get(version)).headers;
      expectStatus(await client.patch(version, { tag: 't' }, { 'if-match': etag }), 200);

      const profiles = `/v1/projects/${projectId}/agent-profiles`;
      const one = await client.post<Named>(profiles, profileContents);
      await client.post<Named>(profiles, profileContents);
      const path = `/v1/agent-profiles/${one.body.id}`;
      const read = await client.get(path);
      assert.equal(read.headers.etag, one.headers.etag, 'another profile moves no tag');
      const headers = { 'if-match': one.headers.etag ?? '' };
      const changed = await client.put(path, { ...profileContents, isDefault: true }, headers);
      expectStatus(changed, 200);
      assert.equal((await client.get(path)).headers.etag, changed.headers.etag);
      expectProblem(await client.put(path, profileContents, headers), 412, 'precondition-failed');
      expectStatus(await client.post<Named>(profiles, { ...profileContents, isDefault: true }), 201);
      assert.notEqual((await client.get(path)).headers.etag, changed.headers.etag, 'losing the default moves it');
    });
  });

  describe('Idempotency-Key', () => {
    it('answers every kind of repeated write with the first answer, even after kill -9', async function () {
      this.timeout(180_000);
      const flow = await newFlow();
      const spare = await newFlow();
      const version = expectStatus(await client.post<Named>(`/v1/flows/${flow.id}/versions`, { flowSchema: 2 }), 201);
      const number = await client.post<Named>(`/v1/projects/${projectId}/phone-numbers`, {
        name: 'N',
        number: freshNumber(),
      });
      const profiles = `/v1/projects/${projectId}/agent-profiles`;
      const profile = await client.post<Named>(profiles, profileContents);
      const numbers = `/v1/projects/${projectId}/phone-numbers`;
      const writes = [
        ['POST', '/v1/projects', { name: 'Once' }],
        ['PATCH', `/v1/projects/${projectId}`, { name: 'Once' }],
        ['POST', '/v1/organizations', { name: 'Once', partner: true }],
        ['POST', flowsPath, { name: 'Once', flowSchema: { once: true } }],
        ['PATCH', `/v1/flows/${flow.id}`, { name: 'Once' }],
        ['PATCH', `/v1/flows/${flow.id}`, { name: 'Once' }],
        ['PUT', `/v1/flows/${flow.id}/tier`, { tier: 'pro' }],
        ['POST', `/v1/flows/${flow.id}/versions`, { flowSchema: { once: 2 } }],
        ['PATCH', `/v1/flow-versions/${version.id}`, { tag: 'once' }],
        ['POST', `/v1/flow-versions/${version.id}/activate`, undefined],
        ['POST', numbers, { name: 'Once', number: freshNumber() }],
        ['PATCH', `/v1/phone-numbers/${number.body.id}`, { status: 'enabled' }],
        ['PATCH', `/v1/phone-numbers/${number.body.id}/flow`, { flowId: flow.id }],
        ['DELETE', `/v1/phone-numbers/${number.body.id}`, undefined],
        ['POST', profiles, { ...profileContents, name: 'Once' }],
        ['PUT', `/v1/agent-profiles/${profile.body.id}`, { ...profileContents, name: 'Once' }],
        ['DELETE', `/v1/agent-profiles/${profile.body.id}`, undefined],
        ['DELETE', `/v1/flows/${spare.id}`, undefined],
      ] as const;
      const send = (index: number) => {
        const [method, path, body] = writes[index] ?? writes[0];
        const headers = { 'idempotency-key': `write-${index}`, ...(body && { 'content-type': 'application/json' }) };
        return client.send({ method, path, headers, ...(body && { body: JSON.stringify(body) }) });
      };
      const first: Array<Reply<unknown>> = [];
      for (const index of writes.keys()) {
        const reply = await send(index);
        assert.ok(reply.status < 300, `${writes[index]?.join(' ')}: ${reply.text}`);
        first.push(reply);
      }
      const expectSame = async () => {
        for (const [index, before] of first.entries()) {
          const again = await send(index);
          const what = `${writes[index]?.slice(0, 2).join(' ')}`;
          assert.equal(again.status, before.status, `${what}: ${again.text}`);
          assert.deepEqual(again.body, before.body, what);
          assert.equal(again.headers.etag, before.headers.etag, what);
        }
      };
      await expectSame();
      await restart();
      await expectSame();
      expectStatus(await client.patch(`/v1/flows/${flow.id}`, { name: 'Later' }), 200);
      await expectSame();
      assert.equal((await client.get<{ name: string }>(`/v1/flows/${flow.id}`)).body.name, 'Later');
      assert.equal((await listFlows()).length, 2);
    });

    it('refuses a reused Idempotency-Key with another body with 422, separates keys by path and caller, and remembers no refusal', async () => {
      const headers = { 'idempotency-key': 'shared' };
      const flow = expectStatus(await client.post<Named>(flowsPath, { name: 'A', flowSchema: 1 }, headers), 201);
      const other = await client.post(flowsPath, { name: 'B', flowSchema: 1 }, headers);
      expectProblem(other, 422, 'idempotency-key-reused');
      const versions = `/v1/flows/${flow.id}/versions`;
      expectStatus(await client.post(versions, { flowSchema: 1 }, headers), 201);
      const made = await client.post<{ key: string }>(`/v1/projects/${projectId}/keys`, {
        name: 'K',
        keyType: 'project',
      });
      const another = await client.as(made.body.key).post<Named>(flowsPath, { name: 'A', flowSchema: 1 }, headers);
      assert.notEqual(expectStatus(another, 201).id, flow.id);

      const refused = { 'idempotency-key': 'refused' };
      expectProblem(await client.post(flowsPath, { name: '' }, refused), 422, 'invalid-input', [
        '/name',
        '/flowSchema',
      ]);
      expectStatus(await client.post(flowsPath, { name: 'A', flowSchema: 1 }, refused), 201);
      for (const key of ['', 'a\tb', 'caf\u00e9', 'x'.repeat(256)]) {
        const reply = await client.post(flowsPath, { name: 'A', flowSchema: 1 }, { 'idempotency-key': key });
        expectProblem(reply, 422, 'invalid-header');
      }
      expectStatus(
        await client.post(flowsPath, { name: 'A', flowSchema: 1 }, { 'idempotency-key': 'x'.repeat(255) }),
        201,
      );
    });

    it('answers a repeated deletion of a flow version with the record again', async () => {
      const flow = await newFlow();
      const { id } = expectStatus(await client.post<Named>(`/v1/flows/${flow.id}/versions`, { flowSchema: 1 }), 201);
      const path = `/v1/flow-versions/${id}`;
      const once = { 'idempotency-key': 'delete-version' };
      const record = expectStatus(await client.remove(path, once), 200);
      assert.equal(record.id, id);
      assert.deepEqual(expectStatus(await client.remove(path, once), 200), record);
      const later = { 'idempotency-key': 'delete-again' };
      assert.equal(expectStatus(await client.remove<null>(path, later), 200), null);
      assert.equal(expectStatus(await client.remove<null>(path, later), 200), null);
    });
  });

  describe('paging', () => {
    const page = async (query: string) => {
      const reply = await client.get<{ flows: FlowRecord[]; nextCursor?: string }>(`${flowsPath}${query}`);
      expectStatus(reply, 200);
      const link = reply.headers.link;
      if (reply.body.nextCursor === undefined) assert.equal(link, undefined);
      else assert.ok(link?.includes(encodeURIComponent(reply.body.nextCursor)) && link.endsWith('rel="next"'), link);
      assert.deepEqual(
        Object.keys(reply.body).filter((name) => name !== 'nextCursor'),
        ['flows'],
      );
      return { ...reply.body, link };
    };

    it('lists every item once, oldest first, while others are added and deleted', async () => {
      const made: string[] = [];
      for (let index = 0; index < 25; index += 1) made.push((await newFlow({ name: `Flow ${index}` })).id);
      assert.deepEqual(
        (await listFlows()).map(({ id }) => id),
        made,
      );
      const seen: string[] = [];
      let path: string | undefined = `${flowsPath}?limit=4`;
      while (path !== undefined) {
        const { flows, link } = await page(path.slice(flowsPath.length));
        assert.ok(flows.length <= 4);
        seen.push(...flows.map(({ id }) => id));
        if (made.length < 30) made.push((await newFlow()).id);
        if (seen.length === 8) expectStatus(await client.remove(`/v1/flows/${seen[3]}`), 204);
        path = /^<([^>]+)>/.exec(link ?? '')?.[1];
      }
      assert.deepEqual(seen, made);
    });

    it('refuses an invalid limit and an invalid cursor', async () => {
      await newFlow();
      await newFlow();
      const { nextCursor = '' } = await page('?limit=1');
      assert.equal((await page(`?limit=1000&cursor=${nextCursor}`)).flows.length, 1);
      for (const limit of ['0', '1001', '-1', '1.5', 'x', '', '1e2']) {
        expectProblem(await client.get(`${flowsPath}?limit=${limit}`), 422, 'invalid-input', ['/limit']);
      }
      for (const cursor of ['', 'x', `${nextCursor}=`, `.${nextCursor}`, '%00', 'a'.repeat(500)]) {
        expectProblem(await client.get(`${flowsPath}?cursor=${cursor}`), 422, 'invalid-input', ['/cursor']);
      }
      assert.equal((await client.get(`${flowsPath}?limit=1&limit=2`)).status, 422);
      expectProblem(await client.get(`${flowsPath}?limit=x&cursor=y`), 422, 'invalid-input', ['/limit', '/cursor']);
    });

    it('pages every list by the same rules', async () => {
      const flow = await newFlow();
      for (let index = 0; index < 2; index += 1) {
        expectStatus(await client.post(`/v1/flows/${flow.id}/versions`, { flowSchema: 1 }), 201);
        const number = { name: 'N', number: freshNumber() };
        expectStatus(await client.post(`/v1/projects/${projectId}/phone-numbers`, number), 201);
        expectStatus(await client.post(`/v1/projects/${projectId}/agent-profiles`, profileContents), 201);
        const key = { name: 'K', keyType: 'project' };
        expectStatus(await client.post(`/v1/projects/${projectId}/keys`, key), 201);
        expectStatus(await client.post('/v1/organizations', { name: 'O', partner: true }), 201);
      }
      const project = `/v1/projects/${projectId}`;
      for (const [path, name] of [
        [`/v1/flows/${flow.id}/versions`, 'versions'],
        [`${project}/phone-numbers`, 'phoneNumbers'],
        [`${project}/agent-profiles`, 'agentProfiles'],
        [`${project}/keys`, 'keys'],
        ['/v1/projects', 'projects'],
        ['/v1/organizations', 'organizations'],
      ] as const) {
        const all = expectStatus(await client.get<Record<string, Named[]>>(path), 200)[name] ?? [];
        const first = expectStatus(await client.get<Record<string, Named[]>>(`${path}?limit=1`), 200);
        const cursor = String(first.nextCursor);
        const rest = expectStatus(await client.get<Record<string, Named[]>>(`${path}?cursor=${cursor}`), 200);
        assert.ok(all.length >= 2);
        assert.deepEqual(
          [...(first[name] ?? []), ...(rest[name] ?? [])].map(({ id }) => id),
          all.map(({ id }) => id),
          path,
        );
      }
    });

    it(`pages beyond 1,000 items without losing any ${long}`, async function () {
      this.timeout(180_000);
      const made = new Set<string>();
      await Promise.all(
        Array.from({ length: 32 }, async () => {
          while (made.size < 1_003) made.add((await newFlow()).id);
        }),
      );
      const first = await page('');
      assert.equal(first.flows.length, 1_000);
      const rest = await page(`?cursor=${first.nextCursor}`);
      assert.equal(rest.nextCursor, undefined);
      const listed = [...first.flows, ...rest.flows].map(({ id }) => id);
      assert.deepEqual(listed.toSorted(), [...made].sort());
    });

    it('ends a page at 2 MiB', async () => {
      const { id } = await newFlow();
      const path = `/v1/flows/${id}/versions`;
      for (let index = 0; index < 4; index += 1) {
        expectStatus(await client.post(path, { flowSchema: 'x'.repeat(700 * 1024) }), 201);
      }
      type Versions = { versions: FlowVersionRecord[]; nextCursor?: string };
      const first = await client.get<Versions>(path);
      const { versions, nextCursor } = expectStatus(first, 200);
      assert.ok(first.text.length <= 2 * 1024 * 1024 + 1024 && versions.length === 3, `${versions.length} versions`);
      const rest = expectStatus(await client.get<Versions>(`${path}?cursor=${nextCursor}`), 200);
      assert.deepEqual(
        [...versions, ...rest.versions].map(({ version }) => version),
        Array.from({ length: 5 }, (_, index) => index + 1),
      );
    });
  });

  describe('positions', () => {
    it('returns a growing position with each command, and answers a read that requires a reached position', async () => {
      const first = await client.post(flowsPath, { name: 'A', flowSchema: 1 });
      const second = await client.post(flowsPath, { name: 'B', flowSchema: 1 });
      const position = second.headers['switchyard-position'] ?? '';
      assert.ok(Number(position) > Number(first.headers['switchyard-position']));
      const headers = { 'switchyard-min-position': position };
      const { flows } = expectStatus(await client.get<{ flows: Named[] }>(flowsPath, headers), 200);
      assert.equal(flows.length, 2);
    });

    it('refuses a position beyond the end of the log with 422 after a second', async () => {
      const headers = { 'switchyard-min-position': '999999999999' };
      const started = performance.now();
      expectProblem(await client.get(flowsPath, headers), 422, 'position-beyond-log');
      assert.ok(performance.now() - started > 800);
      for (const position of ['x', '-1', '1.5', '']) {
        const reply = await client.get(flowsPath, { 'switchyard-min-position': position });
        expectProblem(reply, 422, 'invalid-header');
      }
    });
  });

  describe('refusals', () => {
    it('refuses a request for the first reason in the documented order', async () => {
      const flow = await newFlow();
      const path = `/v1/flows/${flow.id}`;
      const anonymous = client.as(null);
      const bad = { headers: { 'content-type': 'text/plain', 'if-match': '"99"' }, body: 'x'.repeat(800 * 1024) };
      expectProblem(await anonymous.send({ method: 'PATCH', path, ...bad }), 401, 'key-required');
      const unknown = { method: 'PATCH', path: `/v1/flows/${unknownId}`, ...bad } as const;
      expectProblem(await client.send(unknown), 404, 'flow-not-found');
      const json = { 'content-type': 'application/json', 'if-match': '"99"' };
      expectProblem(await client.send({ method: 'PATCH', path, ...bad }), 415, 'unsupported-media-type');
      expectProblem(await client.send({ method: 'PATCH', path, headers: json, body: bad.body }), 413, 'body-too-large');
      expectProblem(await client.send({ method: 'PATCH', path, headers: json, body: 'x' }), 400, 'malformed-json');
      const invalid = { method: 'PATCH', path, headers: json, body: '{"name":""}' } as const;
      expectProblem(await client.send(invalid), 422, 'invalid-input', ['/name']);
      const undecided = { method: 'PATCH', path, headers: json, body: `{"agentProfileId":"${unknownId}"}` } as const;
      expectProblem(await client.send(undecided), 412, 'precondition-failed');

      const once = { 'idempotency-key': 'order' };
      const renamed = expectStatus(await client.patch(path, { name: 'Once' }, once), 200);
      const stale = { ...once, 'if-match': '"99"' };
      assert.deepEqual(expectStatus(await client.patch(path, { name: 'Once' }, stale), 200), renamed);
      expectStatus(await client.remove(path), 204);
      assert.deepEqual(expectStatus(await client.patch(path, { name: 'Once' }, stale), 200), renamed);
      expectProblem(await client.patch(path, { name: 'Twice' }, stale), 422, 'idempotency-key-reused');
      const gone = await client.patch(path, { name: 'x' }, { 'if-match': '"99"' });
      expectProblem(gone, 404, 'flow-not-found');
      expectProblem(await client.patch(path, { name: '' }), 422, 'invalid-input', ['/name']);
    });

    it('answers 404 for an unknown path, and 405 with Allow for an unknown method', async () => {
      for (const path of ['/', '/v1', '/v1/nothing', `/v1/flows/${unknownId}/nothing`, '/v1/flows/', '/V1/me']) {
        expectProblem(await client.get(path), 404, 'path-not-found');
      }
      const flow = await newFlow();
      const reply = await client.put(`/v1/flows/${flow.id}`, {});
      expectProblem(reply, 405, 'method-not-allowed');
      const allowed = (reply.headers.allow ?? '').split(', ').filter((method) => method !== 'HEAD');
      assert.deepEqual(allowed.sort(), ['DELETE', 'GET', 'PATCH']);
    });
  });
});
