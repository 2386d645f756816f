import assert from 'node:assert/strict';
import type { TemplateRecord, TemplateVersionRecord } from '#domain/template/record.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { characters, expectProblem, expectRecord, expectStatus, unknownId } from '#test/e2e/support/expect.ts';
import { runningService, serviceOfProject } from '#test/e2e/support/running-service.ts';
import { bodyFaults, validBodies } from '#test/support/inputs/payload-faults.ts';
import { field, payload, payloadFlow } from '#test/support/inputs/template-payload.ts';
import { long } from '#test/support/run/long.ts';
import type { Client } from '#test/support/service/client.ts';
import { describeOnEngines } from '#test/support/service/engines.ts';

type Named = { readonly id: string };
type Versions = { versions: TemplateVersionRecord[]; nextCursor?: string };

const json = { 'content-type': 'application/json' };
const pathOf = ({ id }: Named) => `/v1/templates/${id}`;
const versionPath = ({ id }: Named) => `/v1/template-versions/${id}`;

describeOnEngines('templates and their versions over HTTP', (engines) => {
  const running = serviceOfProject(engines);
  let client: Client;
  let organizationId: string;

  before(async () => {
    client = running.client;
    organizationId = expectStatus(await client.get<{ organizationId: string }>('/v1/me'), 200).organizationId;
  });

  const created = async (body: object = {}) =>
    expectStatus(await client.post<TemplateRecord>('/v1/templates', { name: 'Template', ...body }), 201);
  const addVersion = (template: TemplateRecord, body: object = { payload: payload() }) =>
    client.post<TemplateVersionRecord>(`${pathOf(template)}/versions`, body);
  const withVersion = async () => {
    const template = await created();
    return { template, version: expectStatus(await addVersion(template), 201) };
  };
  const read = async (template: TemplateRecord) =>
    expectStatus(await client.get<TemplateRecord>(pathOf(template)), 200);

  describe('POST /v1/templates', () => {
    it('creates a draft in the key’s organization with 201', async () => {
      const reply = await client.post<TemplateRecord>('/v1/templates', { name: 'Dental', unknown: 1 });
      const template = expectStatus(reply, 201);
      const fields = { headlessIntegratorId: organizationId, name: 'Dental', description: null, status: 'draft' };
      expectRecord(template, fields);
      assert.equal(template.createdAt, template.updatedAt);
      assert.equal(reply.headers.location, pathOf(template));
      assert.match(reply.headers.etag ?? '', /^"\d+"$/);
      assert.match(reply.headers['switchyard-position'] ?? '', /^\d+$/);
    });

    it('accepts every member of a template at its limits, and refuses members beyond them', async () => {
      for (const body of [
        { name: 'x' },
        { name: characters(200) },
        { description: '' },
        { description: characters(2_000) },
        { description: null },
      ]) {
        const template = await created(body);
        for (const [name, value] of Object.entries(body)) assert.equal(template[name as keyof TemplateRecord], value);
        assert.deepEqual(await read(template), template);
      }
      for (const [body, ...pointers] of [
        [{}, '/name'],
        [{ name: '' }, '/name'],
        [{ name: characters(201) }, '/name'],
        [{ name: null }, '/name'],
        [{ name: 'x', description: characters(2_001) }, '/description'],
        [{ name: 7, description: 7 }, '/name', '/description'],
      ] as ReadonlyArray<[object, ...string[]]>) {
        expectProblem(await client.post('/v1/templates', body), 422, 'invalid-input', pointers);
      }
    });
  });

  describe('GET and PATCH /v1/templates/{templateId}', () => {
    it('returns and changes a template', async () => {
      const template = await created({ description: 'D' });
      const changed = await client.patch<TemplateRecord>(pathOf(template), { name: 'New', status: 'archived' });
      expectRecord(expectStatus(changed, 200), { ...template, name: 'New' });
      const cleared = await client.patch<TemplateRecord>(pathOf(template), { description: null });
      expectRecord(expectStatus(cleared, 200), { ...template, name: 'New', description: null });
      const again = await client.get<TemplateRecord>(pathOf(template));
      assert.deepEqual(expectStatus(again, 200), cleared.body);
      assert.equal(again.headers.etag, cleared.headers.etag);
      const same = await client.patch(pathOf(template), { name: 'New' });
      assert.equal(same.headers.etag, cleared.headers.etag, 'nothing was changed');
      for (const [body, pointer] of [
        [{ name: '' }, '/name'],
        [{ name: null }, '/name'],
        [{ name: characters(201) }, '/name'],
        [{ description: characters(2_001) }, '/description'],
      ] as const) {
        expectProblem(await client.patch(pathOf(template), body), 422, 'invalid-input', [pointer]);
      }
    });

    it('answers 404 for unknown templates', async () => {
      const { template, version } = await withVersion();
      for (const id of [unknownId, '1', version.id, `${template.id}12345678`]) {
        expectProblem(await client.get(`/v1/templates/${id}`), 404, 'template-not-found');
        expectProblem(await client.patch(`/v1/templates/${id}`, { name: 1 }), 404, 'template-not-found');
        expectProblem(await client.post(`/v1/templates/${id}/archive`), 404, 'template-not-found');
        expectProblem(await client.get(`/v1/templates/${id}/versions`), 404, 'template-not-found');
        expectProblem(await client.post(`/v1/templates/${id}/versions`, {}), 404, 'template-not-found');
      }
      for (const id of [unknownId, '1', template.id, `${template.id}12345678`]) {
        expectProblem(await client.get(`/v1/template-versions/${id}`), 404, 'template-version-not-found');
        expectProblem(await client.post(`/v1/template-versions/${id}/publish`), 404, 'template-version-not-found');
      }
      expectProblem(await client.remove(pathOf(template)), 405, 'method-not-allowed');
    });
  });

  describe('GET /v1/templates', () => {
    it('lists templates, oldest first, by page too', async () => {
      const made = [await created(), await created(), await created()];
      const ids = async (path: string) => {
        const body = expectStatus(await client.get<{ templates: TemplateRecord[]; nextCursor?: string }>(path), 200);
        return { ids: body.templates.map(({ id }) => id), next: body.nextCursor };
      };
      const all = (await ids('/v1/templates')).ids;
      assert.deepEqual(
        all.slice(-3),
        made.map(({ id }) => id),
      );
      const paged: string[] = [];
      for (let next: string | undefined = ''; next !== undefined; ) {
        const page = await ids(`/v1/templates?limit=2${next && `&cursor=${next}`}`);
        paged.push(...page.ids);
        next = page.next;
      }
      assert.deepEqual(paged, all);
      expectProblem(await client.get('/v1/templates?limit=0'), 422, 'invalid-input', ['/limit']);
    });
  });

  describe('POST /v1/templates/{templateId}/versions', () => {
    it('creates a template version with 201, the next number, unpublished, with the sent contents', async () => {
      const template = await created();
      const body = { payload: payload(), fieldsSchema: [field()], tag: 'spring' };
      const reply = await addVersion(template, body);
      const version = expectStatus(reply, 201);
      expectRecord(version, { templateId: template.id, version: 1, ...body, publishedAt: null });
      assert.ok(version.id.startsWith(template.id) && version.id.length === template.id.length + 8);
      assert.equal(reply.headers.location, versionPath(version));

      const second = expectStatus(await addVersion(template), 201);
      const bare = { version: 2, payload: payload(), fieldsSchema: [], tag: null, publishedAt: null };
      expectRecord(second, { templateId: template.id, ...bare });
      const listed = expectStatus(await client.get<Versions>(`${pathOf(template)}/versions`), 200);
      assert.deepEqual(listed, { versions: [version, second] });
      const one = await client.get<TemplateVersionRecord>(versionPath(version));
      assert.deepEqual(expectStatus(one, 200), version);
      assert.deepEqual(await read(template), template, 'a version changes nothing of the template');
      assert.equal(one.headers.etag, (await client.get(pathOf(template))).headers.etag);
    });

    it('accepts every member of a payload at its limits, and returns it unchanged', async () => {
      const template = await created();
      for (const { what, body } of validBodies) {
        const reply = await addVersion(template, body);
        assert.equal(reply.status, 201, `${what}: ${reply.text}`);
        const sent = JSON.parse(JSON.stringify({ tag: null, fieldsSchema: [], ...body })) as JsonObject;
        const { payload, fieldsSchema, tag } = reply.body;
        assert.deepEqual({ payload, fieldsSchema, tag }, { tag: null, fieldsSchema: [], ...sent }, what);
        assert.deepEqual(expectStatus(await client.get(versionPath(reply.body)), 200), reply.body);
      }
    });

    it('refuses members beyond their limits with 422 and exact pointers', async () => {
      const template = await created();
      for (const { what, body, pointers } of bodyFaults) {
        const reply = await addVersion(template, body);
        assert.equal(reply.status, 422, `${what}: ${reply.text}`);
        expectProblem(reply, 422, 'invalid-input', pointers);
      }
      expectProblem(await client.post(`${pathOf(template)}/versions`), 422, 'invalid-input', ['/payload']);
      assert.deepEqual(expectStatus(await client.get(`${pathOf(template)}/versions`), 200), { versions: [] });
    });

    it('stores a flow schema unchanged, however its members are named or nested', async () => {
      const template = await created();
      const nested = `${'['.repeat(250)}"{{fields.name}}"${']'.repeat(250)}`;
      const hostile = `{"__proto__":{"polluted":true},"constructor":{"prototype":1},"toString":[1e21,0.1,{"a.b":"$x"}]}`;
      for (const flowSchema of [nested, hostile]) {
        const flow = `{"key":"k","name":"n","flowType":"graph","flowSchema":${flowSchema},"__proto__":{"x":1},"y":2}`;
        const body = `{"payload":{"flows":[${flow}],"__proto__":{"agentProfile":{}}},"fieldsSchema":[${JSON.stringify(field())}]}`;
        const path = `${pathOf(template)}/versions`;
        const reply = await client.send<TemplateVersionRecord>({ method: 'POST', path, headers: json, body });
        const kept = `"flows":[{"key":"k","name":"n","flowType":"graph","flowSchema":${JSON.stringify(JSON.parse(flowSchema))}}]}`;
        for (const { text } of [expectStatus(reply, 201) && reply, await client.get(versionPath(reply.body))]) {
          assert.ok(text.includes(kept), text);
        }
      }
      const deep = `{"payload":{"flows":[{"flowSchema":${'['.repeat(254)}${']'.repeat(254)}}]}}`;
      const path = `${pathOf(template)}/versions`;
      expectProblem(await client.send({ method: 'POST', path, headers: json, body: deep }), 422, 'nesting-too-deep');
    });

    it('accepts 200 flows of 3 KB, and refuses contents that are too large to be stored', async () => {
      const template = await created();
      const flows = Array.from({ length: 200 }, (_, index) =>
        payloadFlow({ key: `flow-${index}`, flowSchema: { say: 'x'.repeat(3_000) } }),
      );
      const version = expectStatus(await addVersion(template, { payload: { flows } }), 201);
      assert.deepEqual(version.payload, { flows });
      assert.deepEqual(expectStatus(await client.get(versionPath(version)), 200), version);
      const more = flows.concat(flows.map((flow) => ({ ...flow, key: `more ${flow.key}` })));
      expectProblem(await addVersion(template, { payload: { flows: more } }), 413, 'body-too-large');
      // Five bytes of the request take 22 bytes in the store.
      const body = `{"payload":{"flows":[{"key":"k","name":"n","flowType":"simple","flowSchema":[${'1e20,'.repeat(49_000)}0]}]}}`;
      const grown = await client.send({ method: 'POST', path: `${pathOf(template)}/versions`, headers: json, body });
      expectProblem(grown, 413, 'append-too-large');
    });

    it('numbers concurrently created versions uniquely', async () => {
      const template = await created();
      const replies = await Promise.all(Array.from({ length: 20 }, () => addVersion(template)));
      const numbers = replies.map((reply) => expectStatus(reply, 201).version).toSorted((a, b) => a - b);
      assert.deepEqual(
        numbers,
        Array.from({ length: 20 }, (_, index) => index + 1),
      );
    });
  });

  describe('POST /v1/template-versions/{versionId}/publish', () => {
    it('publishes a version, and publishes the template with its first one', async () => {
      const { template, version } = await withVersion();
      const second = expectStatus(await addVersion(template), 201);
      const reply = await client.post<TemplateVersionRecord>(`${versionPath(second)}/publish`);
      const published = expectStatus(reply, 200);
      expectRecord(published, { ...second, publishedAt: published.publishedAt });
      assert.equal(published.publishedAt, published.updatedAt);
      assert.deepEqual(expectStatus(await client.get(versionPath(second)), 200), published);
      assert.deepEqual(expectStatus(await client.get(versionPath(version)), 200), version);
      const after = await read(template);
      expectRecord(after, { ...template, status: 'published' });
      assert.equal(after.updatedAt, published.publishedAt);

      const again = await client.post(`${versionPath(second)}/publish`);
      assert.deepEqual(expectStatus(again, 200), published);
      assert.equal(again.headers.etag, reply.headers.etag, 'an event was appended');
      expectStatus(await client.post(`${versionPath(version)}/publish`), 200);
      assert.deepEqual(await read(template), after, 'only the first one changes the template');
    });
  });

  describe('POST /v1/templates/{templateId}/archive', () => {
    it('archives a template for good, which stays readable and refuses changes', async () => {
      const { template, version } = await withVersion();
      const draft = expectStatus(await addVersion(template), 201);
      const published = expectStatus(await client.post<object>(`${versionPath(version)}/publish`), 200);
      const reply = await client.post<TemplateRecord>(`${pathOf(template)}/archive`);
      expectRecord(expectStatus(reply, 200), { ...template, status: 'archived' });
      const again = await client.post(`${pathOf(template)}/archive`);
      assert.deepEqual(expectStatus(again, 200), reply.body);
      assert.equal(again.headers.etag, reply.headers.etag, 'an event was appended');
      assert.deepEqual(await read(template), reply.body);

      expectProblem(await addVersion(template), 409, 'template-archived');
      expectProblem(await addVersion(template, {}), 422, 'invalid-input', ['/payload']);
      for (const each of [version, draft]) {
        expectProblem(await client.post(`${versionPath(each)}/publish`), 409, 'template-archived');
      }
      assert.deepEqual(expectStatus(await client.get(`${pathOf(template)}/versions`), 200), {
        versions: [published, draft],
      });
    });

    it('archives a draft', async () => {
      const template = await created();
      const archived = expectStatus(await client.post<TemplateRecord>(`${pathOf(template)}/archive`), 200);
      assert.equal(archived.status, 'archived');
    });
  });

  describe('common behaviour', () => {
    it('accepts only the newest revision in If-Match, and gives a version its template’s revision', async () => {
      const { template, version } = await withVersion();
      const { etag = '' } = (await client.get(versionPath(version))).headers;
      const stale = { 'if-match': (await client.patch(pathOf(await created()), { name: 'x' })).headers.etag ?? '' };
      expectStatus(await client.patch(pathOf(template), { name: 'Two' }, { 'if-match': etag }), 200);
      const old = { 'if-match': etag };
      expectProblem(await client.patch(pathOf(template), { name: 'Three' }, old), 412, 'precondition-failed');
      expectProblem(await client.post(`${versionPath(version)}/publish`, undefined, old), 412, 'precondition-failed');
      const body = { payload: payload() };
      expectProblem(await client.post(`${pathOf(template)}/versions`, body, old), 412, 'precondition-failed');
      expectProblem(await client.post(`${pathOf(template)}/archive`, undefined, stale), 412, 'precondition-failed');
      const newest = { 'if-match': (await client.get(pathOf(template))).headers.etag ?? '' };
      expectStatus(await client.post(`${versionPath(version)}/publish`, undefined, newest), 200);
    });

    it('shows a written template to a read with its Switchyard-Min-Position', async () => {
      const template = await created();
      const reply = await addVersion(template);
      const position = { 'switchyard-min-position': reply.headers['switchyard-position'] ?? '' };
      for (const path of [pathOf(template), versionPath(reply.body), `${pathOf(template)}/versions`, '/v1/templates']) {
        expectStatus(await client.get(path, position), 200);
      }
    });
  });
});

describeOnEngines(`repeated writes of templates after kill -9 ${long}`, (engines) => {
  const running = runningService(engines);

  it('are answered with the first answer', async () => {
    let { client } = running;
    const create = async (path: string, body: object) => expectStatus(await client.post<Named>(path, body), 201);
    const template = pathOf(await create('/v1/templates', { name: 'Template' }));
    const version = versionPath(await create(`${template}/versions`, { payload: payload() }));
    const writes = [
      ['POST', '/v1/templates', { name: 'Once' }],
      ['PATCH', template, { name: 'Once' }],
      ['PATCH', template, { name: 'Once' }],
      ['POST', `${template}/versions`, { payload: payload(), tag: 'once' }],
      ['POST', `${version}/publish`, undefined],
      ['POST', `${version}/publish`, undefined],
      ['POST', `${template}/archive`, undefined],
      ['POST', `${template}/archive`, undefined],
    ] as const;
    const send = ([method, path, body]: (typeof writes)[number], index: number) => {
      const headers = { 'idempotency-key': `template-write-${index}`, ...(body && json) };
      return client.send({ method, path, headers, ...(body && { body: JSON.stringify(body) }) });
    };
    const all = async () => {
      const replies = [];
      for (const [index, write] of writes.entries()) replies.push(await send(write, index));
      return replies.map(({ status, body, headers }) => ({ status, body, etag: headers.etag }));
    };
    const first = await all();
    for (const [index, { status }] of first.entries()) assert.ok(status < 300, `${writes[index]}: ${status}`);
    assert.deepEqual(await all(), first);
    client = await running.restarted();
    assert.deepEqual(await all(), first);
    const { versions } = expectStatus(await client.get<Versions>(`${template}/versions`), 200);
    assert.deepEqual(
      versions.map((each) => each.version),
      [1, 2],
    );
    const headers = { 'idempotency-key': 'template-write-0' };
    const reused = await client.post('/v1/templates', { name: 'Other' }, headers);
    expectProblem(reused, 422, 'idempotency-key-reused');
  });
});
