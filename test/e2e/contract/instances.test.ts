import assert from 'node:assert/strict';
import type { FlowRecord, FlowVersionRecord } from '#domain/flow/record.ts';
import type { InstanceDetails, InstanceRecord } from '#domain/instance/record.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { characters, expectProblem, expectRecord, expectStatus, unknownId } from '#test/e2e/support/expect.ts';
import { serviceOfProject } from '#test/e2e/support/running-service.ts';
import { type KeyType, newHolder, newKey, newOrganization, newProject } from '#test/e2e/support/tenants.ts';
import { uploadText } from '#test/e2e/support/upload.ts';
import { field, payload, payloadFlow } from '#test/support/inputs/template-payload.ts';
import type { Client } from '#test/support/service/client.ts';
import { describeOnEngines } from '#test/support/service/engines.ts';
import { poll } from '#test/support/service/service-process.ts';

type Named = { readonly id: string };

const settleMs = 60_000;

/** Version 1 of the example template. */
const first = {
  payload: payload({
    flows: [
      payloadFlow({ flowSchema: { say: 'Hello {{fields.name}}', limit: '{{fields.limit}}', on: '{{fields.on}}' } }),
      payloadFlow({ key: 'bye', name: 'Bye', flowType: 'graph', flowSchema: ['bye', '\\{{fields.name}}'] }),
    ],
  }),
  fieldsSchema: [
    field(),
    field({ key: 'limit', type: 'number', required: false, defaultValue: '1.50' }),
    field({ key: 'on', type: 'boolean', required: false }),
  ],
};

/** Version 2: `welcome` changed, `bye` removed, `hours` new; the field `on` removed, `city` new. */
const second = {
  payload: payload({
    flows: [
      payloadFlow({
        name: 'Greeting',
        flowType: 'graph',
        flowSchema: { say: 'Hi {{fields.name}} of {{fields.city}}' },
      }),
      payloadFlow({ key: 'hours', name: 'Hours', flowSchema: 'Up to {{fields.limit}}' }),
    ],
    agentProfile: { name: 'Front', reasoningMode: 'smart', supportedInputLanguages: ['en', 'de'] },
    knowledgeBases: [{ key: 'faq', name: 'Answers' }],
    phoneNumberRequirements: [
      { key: 'main', label: 'Main' },
      { key: 'fax', label: 'Fax' },
    ],
  }),
  fieldsSchema: [
    field(),
    field({ key: 'limit', type: 'number', required: false, defaultValue: '2' }),
    field({ key: 'city' }),
  ],
};

/** Version 3: a long value makes its flow too large to be stored. */
const third = {
  payload: payload({
    flows: [
      payloadFlow({ flowSchema: ['new'] }),
      payloadFlow({ key: 'more', flowSchema: 'More' }),
      payloadFlow({ key: 'hours', name: 'Hours', flowSchema: '{{fields.text}}'.repeat(200) }),
    ],
  }),
  fieldsSchema: [field({ key: 'text', required: false, defaultValue: 'Open' })],
};

describeOnEngines('instances over HTTP', (engines) => {
  const running = serviceOfProject(engines);
  let admin: Client;
  /** A client with a partner's key. */
  let partner: Client;
  let projectId: string;
  let organizationId: string;
  let templateId: string;
  const versions: string[] = [];

  before(async function () {
    this.timeout(180_000);
    admin = running.client;
    partner = await holder((await admin.get<{ projectId: string }>('/v1/me')).body.projectId, 'partner');
    const customer = await customerOf(partner, 'Weber');
    ({ projectId, organizationId } = customer);
    templateId = expectStatus(await partner.post<Named>('/v1/templates', { name: 'Practice' }), 201).id;
    for (const body of [first, second, third]) versions.push(await published(partner, templateId, body));
  });

  const holder = (ofProject: string, keyType: KeyType) => newHolder(admin, ofProject, keyType);

  async function customerOf(client: Client, name: string) {
    const reply = await client.post<{ organizationId: string }>('/v1/partner/customers', {
      name,
      clientEmail: 'weber@example.com',
    });
    assert.ok(reply.status === 200 || reply.status === 201, reply.text);
    const { organizationId } = reply.body;
    const project = await poll(async () => {
      const { projects } = expectStatus(
        await client.get<{ projects: Array<Named & { organizationId: string }> }>('/v1/projects'),
        200,
      );
      return projects.find((each) => each.organizationId === organizationId) ?? null;
    }, settleMs);
    assert.ok(project, 'the project of a customer is not listed');
    return { organizationId, projectId: project.id };
  }

  async function published(client: Client, ofTemplate: string, body: JsonObject): Promise<string> {
    const made = expectStatus(await client.post<Named>(`/v1/templates/${ofTemplate}/versions`, body), 201);
    expectStatus(await client.post(`/v1/template-versions/${made.id}/publish`), 200);
    return made.id;
  }

  const pathOf = ({ id }: Named) => `/v1/instances/${id}`;
  const versionId = (number: number) => versions[number - 1] ?? '';
  const validInput = () => ({
    templateVersionId: versionId(1),
    projectId,
    name: 'Weber',
    fieldValues: { name: 'Weber' },
  });
  const create = (body: JsonObject = {}) => partner.post<InstanceRecord>('/v1/instances', { ...validInput(), ...body });
  const upgrade = (instance: Named, number: number, body: JsonObject = {}) =>
    partner.post<InstanceRecord>(`${pathOf(instance)}/upgrade`, {
      targetTemplateVersionId: versionId(number),
      ...body,
    });

  /** Waits until an instance has no running operation. */
  async function settled(instance: Named): Promise<InstanceDetails> {
    const found = await poll(async () => {
      const details = expectStatus(await partner.get<InstanceDetails>(pathOf(instance)), 200);
      return details.operation === null ? details : null;
    }, settleMs);
    assert.ok(found, 'the operation does not end');
    return found;
  }

  const active = async (body: JsonObject = {}) => {
    const instance = await settled(expectStatus(await create(body), 201));
    assert.equal(instance.status, 'active', JSON.stringify(instance));
    return instance;
  };

  /** Returns a flow and the schema of its active version; null when there is none. */
  async function flowOf(id: string | undefined) {
    const reply = await partner.get<FlowRecord>(`/v1/flows/${id}`);
    if (reply.status === 404) return null;
    const list = await partner.get<{ versions: FlowVersionRecord[] }>(`/v1/flows/${id}/versions`);
    if (list.status === 404) return null;
    const { name, type, agentProfileId } = expectStatus(reply, 200);
    return { name, type, agentProfileId, schema: list.body.versions.find(({ isActive }) => isActive)?.flowSchema };
  }

  const flowIdOf = ({ resources }: InstanceRecord, key: string) =>
    resources.flows.find((each) => each.key === key)?.flowId ?? '';

  describe('POST /v1/instances', () => {
    it('answers a creation with 201 immediately, with status provisioning, effective values and steps', async () => {
      const reply = await create();
      const record = expectStatus(reply, 201);
      const { operation, ...rest } = record;
      expectRecord(rest, {
        templateId,
        templateVersionId: versionId(1),
        organizationId,
        projectId,
        name: 'Weber',
        fieldValues: { name: 'Weber', limit: '1.50' },
        status: 'provisioning',
        resources: { flows: [], agentProfileId: null, stores: [] },
        phoneNumberRequirements: [{ key: 'main', label: 'Main line', phoneNumberId: null }],
        lastOperation: null,
      });
      assert.equal(operation?.kind, 'provision');
      assert.deepEqual(
        operation?.steps.map(({ action, resource, key, done }) => [action, resource, key, done]),
        [
          ['create', 'agent-profile', null, false],
          ['create', 'flow', 'welcome', false],
          ['create', 'flow', 'bye', false],
          ['create', 'store', 'faq', false],
        ],
      );
      assert.equal(reply.headers.location, pathOf(record));
      assert.match(reply.headers.etag ?? '', /^"\d+"$/);
      await settled(record);
    });

    it('creates flows, an agent profile and stores in the project, filled with the values', async () => {
      const instance = await active({ fieldValues: { name: 'Weber', on: 'true' } });
      assert.deepEqual(instance.drifted, []);
      const { agentProfileId } = instance.resources;
      assert.deepEqual(await flowOf(flowIdOf(instance, 'welcome')), {
        name: 'Welcome',
        type: 'simple',
        agentProfileId,
        schema: { say: 'Hello Weber', limit: 1.5, on: true },
      });
      assert.deepEqual(await flowOf(flowIdOf(instance, 'bye')), {
        name: 'Bye',
        type: 'graph',
        agentProfileId,
        schema: ['bye', '{{fields.name}}'],
      });
      const profile = expectStatus(await partner.get(`/v1/agent-profiles/${agentProfileId}`), 200);
      expectRecord(profile, {
        projectId,
        name: 'Desk',
        isDefault: false,
        supportedInputLanguages: ['en'],
        reasoningMode: 'fast',
        outputVoiceId: 'narrator',
        flowIds: instance.resources.flows.map(({ flowId }) => flowId),
      });
      const customer = await holder(projectId, 'project');
      const store = expectStatus(await customer.get(`/v1/stores/${instance.resources.stores[0]?.storeId}`), 200);
      expectRecord(store, { name: 'Questions', description: 'Answers', status: 'ready' });
      const { instances } = expectStatus(await partner.get<{ instances: InstanceRecord[] }>('/v1/instances'), 200);
      const { drifted: _, ...record } = instance;
      assert.deepEqual(
        instances.find(({ id }) => id === instance.id),
        record,
      );
    });

    it('answers 404 for an unknown version or project, and 409 for a version that cannot be instantiated', async () => {
      expectProblem(await create({ templateVersionId: unknownId }), 404, 'template-version-not-found');
      expectProblem(await create({ projectId: unknownId }), 404, 'project-not-found');
      const other = expectStatus(await partner.post<Named>('/v1/templates', { name: 'Other' }), 201);
      const path = `/v1/templates/${other.id}`;
      const draft = expectStatus(await partner.post<Named>(`${path}/versions`, first), 201);
      expectProblem(await create({ templateVersionId: draft.id }), 409, 'template-version-not-published');
      expectStatus(await partner.post(`/v1/template-versions/${draft.id}/publish`), 200);
      expectStatus(await partner.post(`${path}/archive`), 200);
      expectProblem(await create({ templateVersionId: draft.id }), 409, 'template-archived');
    });

    it('refuses invalid input with 422 and a pointer for each fault', async () => {
      for (const name of ['', characters(201), 1, null]) {
        expectProblem(await create({ name }), 422, 'invalid-input', ['/name']);
      }
      expectProblem(await create({ fieldValues: {} }), 422, 'invalid-input', ['/fieldValues/name']);
      const faults = { limit: 'x', on: 'yes', other: '', 'a/b': '' };
      const pointers = ['name', 'limit', 'on', 'other', 'a~1b'].map((key) => `/fieldValues/${key}`);
      expectProblem(await create({ fieldValues: faults }), 422, 'invalid-input', pointers);
      expectProblem(await create({ fieldValues: { name: 1 } }), 422, 'invalid-input', ['/fieldValues/name']);
      expectProblem(await create({ fieldValues: [] }), 422, 'invalid-input', ['/fieldValues']);
      const missing = ['/templateVersionId', '/projectId', '/name'];
      expectProblem(await partner.post('/v1/instances', {}), 422, 'invalid-input', missing);
    });

    it('creates one instance for a repeated request', async () => {
      const once = { 'idempotency-key': 'create-an-instance' };
      const made = expectStatus(await partner.post<InstanceRecord>('/v1/instances', validInput(), once), 201);
      assert.deepEqual(expectStatus(await partner.post('/v1/instances', validInput(), once), 201), made);
      const other = { ...validInput(), name: 'Other' };
      expectProblem(await partner.post('/v1/instances', other, once), 422, 'idempotency-key-reused');
      await settled(made);
    });

    it('fails with an actionable reason, leaves no resources, and succeeds on retry', async () => {
      const text = 'x'.repeat(5_000);
      const before = (await partner.get<{ flows: Named[] }>(`/v1/projects/${projectId}/flows`)).body.flows.length;
      const made = expectStatus(await create({ templateVersionId: versionId(3), fieldValues: { text } }), 201);
      const failed = await settled(made);
      assert.equal(failed.status, 'failed');
      assert.equal(failed.lastOperation?.outcome, 'failed');
      assert.match(
        failed.lastOperation?.reason ?? '',
        /^The flow "hours" is too large to be stored\..*create it again with shorter fieldValues/,
      );
      assert.deepEqual(failed.resources, { flows: [], agentProfileId: null, stores: [] });
      const after = (await partner.get<{ flows: Named[] }>(`/v1/projects/${projectId}/flows`)).body.flows.length;
      assert.equal(after, before);
      const again = expectStatus(await partner.post<InstanceRecord>(`${pathOf(made)}/retry`), 200);
      assert.deepEqual([again.status, again.operation?.number], ['provisioning', 2]);
      assert.equal((await settled(made)).status, 'failed');
    });
  });

  describe('POST /v1/instances/{id}/upgrade', () => {
    it('answers an upgrade immediately with its target, then gives each flow the new contents under its id', async () => {
      const before = await active({ fieldValues: { name: 'Weber', on: 'false' } });
      const customer = await holder(projectId, 'project');
      const files = `/v1/stores/${before.resources.stores[0]?.storeId}/files`;
      const file = await uploadText(customer, 'What patients ask most');
      const stored = expectStatus(await customer.post(files, { file_id: file.id }), 200);
      const answered = expectStatus(await upgrade(before, 2, { newFieldValues: { city: 'Bern' } }), 200);
      assert.deepEqual([answered.status, answered.templateVersionId], ['provisioning', versionId(2)]);
      assert.deepEqual(answered.fieldValues, { name: 'Weber', limit: '1.50', city: 'Bern' });
      const after = await settled(before);
      assert.deepEqual([after.status, after.templateVersionId, after.drifted], ['active', versionId(2), []]);
      assert.equal(flowIdOf(after, 'welcome'), flowIdOf(before, 'welcome'));
      const { agentProfileId } = after.resources;
      assert.equal(agentProfileId, before.resources.agentProfileId);
      assert.deepEqual(await flowOf(flowIdOf(after, 'welcome')), {
        name: 'Greeting',
        type: 'graph',
        agentProfileId,
        schema: { say: 'Hi Weber of Bern' },
      });
      const hours = { name: 'Hours', type: 'simple', agentProfileId, schema: 'Up to 1.50' };
      assert.deepEqual(await flowOf(flowIdOf(after, 'hours')), hours);
      assert.equal(await flowOf(flowIdOf(before, 'bye')), null);
      assert.equal((await partner.get(`/v1/agent-profiles/${agentProfileId}`)).body.name, 'Front');
      const store = await customer.get(`/v1/stores/${before.resources.stores[0]?.storeId}`);
      assert.deepEqual([store.body.name, store.body.description], ['Answers', null]);
      assert.deepEqual(expectStatus(await customer.get(`${files}/${file.id}`), 200), stored);
      assert.deepEqual(
        after.phoneNumberRequirements.map(({ key }) => key),
        ['main', 'fax'],
      );
      const { outcome, kind, reason } = after.lastOperation ?? {};
      assert.deepEqual({ outcome, kind, reason }, { outcome: 'succeeded', kind: 'upgrade', reason: null });
    });

    it('undoes an upgrade as a whole when it cannot complete, and reports the reason', async () => {
      const before = await active();
      const wanted = await Promise.all(before.resources.flows.map(({ flowId }) => flowOf(flowId)));
      expectStatus(await upgrade(before, 3, { newFieldValues: { text: 'x'.repeat(5_000) } }), 200);
      const after = await settled(before);
      assert.equal(after.lastOperation?.outcome, 'undone');
      assert.equal(after.lastOperation?.templateVersionId, versionId(3));
      assert.match(after.lastOperation?.reason ?? '', /too large/);
      const { lastOperation: _a, updatedAt: _b, ...rest } = after;
      const { lastOperation: _c, updatedAt: _d, ...restBefore } = before;
      assert.deepEqual(rest, restBefore);
      assert.deepEqual(await Promise.all(before.resources.flows.map(({ flowId }) => flowOf(flowId))), wanted);
      expectStatus(await upgrade(before, 3), 200);
      assert.equal((await settled(before)).templateVersionId, versionId(3));
    });

    it('refuses an upgrade to an unknown, foreign, unpublished or older version, and one that lacks a value', async () => {
      const instance = await active();
      const other = expectStatus(await partner.post<Named>('/v1/templates', { name: 'Other' }), 201);
      const foreign = await published(partner, other.id, first);
      const draft = expectStatus(await partner.post<Named>(`/v1/templates/${templateId}/versions`, first), 201);
      const to = (targetTemplateVersionId: string) =>
        partner.post(`${pathOf(instance)}/upgrade`, { targetTemplateVersionId });
      expectProblem(await to(unknownId), 404, 'template-version-not-found');
      expectProblem(await to(foreign), 409, 'template-version-of-another-template');
      expectProblem(await to(draft.id), 409, 'template-version-not-published');
      expectProblem(await to(versionId(1)), 409, 'template-version-not-newer');
      expectProblem(await to('x'), 422, 'invalid-input', ['/targetTemplateVersionId']);
      expectProblem(await upgrade(instance, 2), 422, 'invalid-input', ['/newFieldValues/city']);
      const wrong = { newFieldValues: { city: 'Bern', on: 'true' } };
      expectProblem(await upgrade(instance, 2, wrong), 422, 'invalid-input', ['/newFieldValues/on']);
      assert.equal((await settled(instance)).templateVersionId, versionId(1));
    });

    it('reports manual changes, refuses to replace them with onDrift=reject, and replaces them by default', async () => {
      const instance = await active();
      const flowId = flowIdOf(instance, 'welcome');
      const made = expectStatus(await partner.post<Named>(`/v1/flows/${flowId}/versions`, { flowSchema: 'ours' }), 201);
      assert.deepEqual((await settled(instance)).drifted, []);
      expectStatus(await partner.post(`/v1/flow-versions/${made.id}/activate`), 200);
      assert.deepEqual((await settled(instance)).drifted, [flowId]);
      const city = { newFieldValues: { city: 'Bern' } };
      expectProblem(await upgrade(instance, 2, { ...city, onDrift: 'reject' }), 409, 'instance-drifted');
      const preview = await partner.get(`${pathOf(instance)}/upgrade-preview?targetTemplateVersionId=${versionId(2)}`);
      assert.deepEqual(expectStatus(preview, 200), {
        instanceId: instance.id,
        targetTemplateVersionId: versionId(2),
        flows: {
          added: [{ key: 'hours', name: 'Hours' }],
          changed: [{ key: 'welcome', name: 'Greeting', flowId }],
          removed: [{ key: 'bye', name: 'Bye', flowId: flowIdOf(instance, 'bye') }],
          drifted: [flowId],
        },
        fields: { added: ['city'], removed: ['on'], missing: ['city'] },
      });
      expectStatus(await partner.remove(`/v1/flows/${flowIdOf(instance, 'bye')}`), 204);
      assert.deepEqual((await settled(instance)).drifted, [flowId, flowIdOf(instance, 'bye')]);
      expectStatus(await upgrade(instance, 2, city), 200);
      const after = await settled(instance);
      assert.deepEqual([after.status, after.drifted], ['active', []]);
      assert.deepEqual((await flowOf(flowId))?.schema, { say: 'Hi Weber of Bern' });
      assert.equal((await partner.get(`/v1/flow-versions/${made.id}`)).body.flowSchema, 'ours');
    });

    it('supersedes a running operation', async () => {
      const made = expectStatus(await create(), 201);
      expectStatus(await upgrade(made, 2, { newFieldValues: { city: 'Bern' } }), 200);
      const third = expectStatus(await upgrade(made, 3), 200);
      assert.equal(third.templateVersionId, versionId(3));
      const after = await settled(made);
      assert.deepEqual([after.status, after.templateVersionId, after.drifted], ['active', versionId(3), []]);
      const { flows } = (await partner.get<{ flows: FlowRecord[] }>(`/v1/projects/${projectId}/flows`)).body;
      const left = new Set(after.resources.flows.map(({ flowId }) => flowId));
      const others = expectStatus(await partner.get<{ instances: InstanceRecord[] }>('/v1/instances'), 200).instances;
      const known = new Set(others.flatMap(({ resources }) => resources.flows.map(({ flowId }) => flowId)));
      assert.deepEqual(
        flows.filter(({ id }) => !known.has(id) && !left.has(id)),
        [],
      );
    });
  });

  describe('GET /v1/instances/{id}/upgrade-preview', () => {
    it('requires a target for an upgrade preview, and refuses it as it refuses the upgrade', async () => {
      const instance = await active();
      const preview = (query: string) => partner.get(`${pathOf(instance)}/upgrade-preview${query}`);
      expectProblem(await preview(''), 422, 'invalid-input', ['/targetTemplateVersionId']);
      const to = (id: string) => preview(`?targetTemplateVersionId=${id}`);
      expectProblem(await to(unknownId), 404, 'template-version-not-found');
      expectProblem(await to(versionId(1)), 409, 'template-version-not-newer');
      const etag = (await partner.get(pathOf(instance))).headers.etag;
      expectStatus(await to(versionId(2)), 200);
      assert.equal((await partner.get(pathOf(instance))).headers.etag, etag);
    });

    it('has the diff of each changed flow with details=true', async () => {
      const instance = await active();
      const path = `${pathOf(instance)}/upgrade-preview?targetTemplateVersionId=${versionId(2)}`;
      type Changed = { flows: { changed: Array<{ key: string; diff?: { patch: object[]; summary: string } }> } };
      const plain = expectStatus(await partner.get<Changed>(path), 200);
      assert.deepEqual(
        plain.flows.changed.map(({ diff }) => diff),
        [undefined],
      );
      const { flows, ...rest } = expectStatus(await partner.get<Changed>(`${path}&details=true`), 200);
      const [changed] = flows.changed;
      assert.deepEqual([flows.changed.length, changed?.key, 'detailsOmitted' in rest], [1, 'welcome', false]);
      assert.ok((changed?.diff?.patch.length ?? 0) > 0 && changed?.diff?.summary !== '', JSON.stringify(changed));
    });

    it('previews a version that is not published for a key that may write the template, and for no other', async () => {
      const instance = await active();
      const draft = expectStatus(await partner.post<Named>(`/v1/templates/${templateId}/versions`, second), 201);
      const path = `${pathOf(instance)}/upgrade-preview?targetTemplateVersionId=${draft.id}`;
      expectStatus(await partner.get(path), 200);
      const home = (await partner.get<{ projectId: string }>('/v1/me')).body.projectId;
      const scopes = ['instances:read', 'templates:read'] as const;
      const { key } = await newKey(admin, home, 'partner', scopes);
      expectProblem(await partner.as(key).get(path), 409, 'template-version-not-published');
      const target = { targetTemplateVersionId: draft.id };
      expectProblem(await partner.post(`${pathOf(instance)}/upgrade`, target), 409, 'template-version-not-published');
    });
  });

  describe('PUT /v1/instances/{id}/phone-number-requirements/{key}', () => {
    it('assigns a phone number to a requirement, removes it, and keeps it in an upgrade that still has the requirement', async () => {
      const instance = await active();
      const body = { name: 'Main', number: '+41 31 123 45 67' };
      const number = expectStatus(await partner.post<Named>(`/v1/projects/${projectId}/phone-numbers`, body), 201);
      const path = `${pathOf(instance)}/phone-number-requirements`;
      const put = (key: string, phoneNumberId: unknown) =>
        partner.put<InstanceRecord>(`${path}/${key}`, { phoneNumberId });
      const met = [{ key: 'main', label: 'Main line', phoneNumberId: number.id }];
      assert.deepEqual(expectStatus(await put('main', number.id), 200).phoneNumberRequirements, met);
      expectProblem(await put('other', number.id), 404, 'phone-number-requirement-not-found');
      expectProblem(await put('main', unknownId), 404, 'phone-number-not-found');
      expectProblem(await put('main', 'x'), 422, 'invalid-input', ['/phoneNumberId']);
      expectProblem(await partner.put(`${path}/main`, {}), 422, 'invalid-input', ['/phoneNumberId']);
      expectStatus(await upgrade(instance, 2, { newFieldValues: { city: 'Bern' } }), 200);
      assert.deepEqual((await settled(instance)).phoneNumberRequirements, [
        { key: 'main', label: 'Main', phoneNumberId: number.id },
        { key: 'fax', label: 'Fax', phoneNumberId: null },
      ]);
      const cleared = expectStatus(await put('main', null), 200).phoneNumberRequirements;
      assert.deepEqual(
        cleared.map(({ phoneNumberId }) => phoneNumberId),
        [null, null],
      );
    });
  });

  describe('POST /v1/instances/{id}/retry', () => {
    it('refuses a retry with 409 when nothing failed', async () => {
      expectProblem(await partner.post(`${pathOf(await active())}/retry`), 409, 'nothing-to-retry');
    });
  });

  describe('DELETE /v1/instances/{id}', () => {
    it('answers a deletion with the last record, removes only what the instance created, and then answers 404', async () => {
      const instance = await active();
      const own = expectStatus(
        await partner.post<Named>(`/v1/projects/${projectId}/flows`, { name: 'Own', flowSchema: 1 }),
        201,
      );
      const number = expectStatus(
        await partner.post<Named>(`/v1/projects/${projectId}/phone-numbers`, {
          name: 'Line',
          number: 'line of the deleted',
          flowId: flowIdOf(instance, 'welcome'),
        }),
        201,
      );
      const { drifted: _, ...record } = instance;
      assert.deepEqual(expectStatus(await partner.remove(pathOf(instance)), 200), record);
      expectProblem(await partner.get(pathOf(instance)), 404, 'instance-not-found');
      expectProblem(await partner.remove(pathOf(instance)), 404, 'instance-not-found');
      expectProblem(await upgrade(instance, 2), 404, 'instance-not-found');
      const gone = await poll(async () => {
        const flows = await Promise.all(instance.resources.flows.map(({ flowId }) => flowOf(flowId)));
        const profile = await partner.get(`/v1/agent-profiles/${instance.resources.agentProfileId}`);
        return flows.every((flow) => flow === null) && profile.status === 404;
      }, settleMs);
      assert.ok(gone, 'resources of the instance still exist');
      assert.ok(await flowOf(own.id));
      const detached = await poll(
        async () => (await partner.get(`/v1/phone-numbers/${number.id}`)).body.flowId === null,
        settleMs,
      );
      assert.ok(detached, 'the phone number refers to a deleted flow');
    });

    it('keeps all resources with keepResources=true', async () => {
      const instance = await active();
      expectStatus(await partner.remove(`${pathOf(instance)}?keepResources=true`), 200);
      expectProblem(await partner.get(pathOf(instance)), 404, 'instance-not-found');
      for (const { flowId } of instance.resources.flows) assert.ok(await flowOf(flowId));
      const wrong = await partner.remove(`${pathOf(await active())}?keepResources=perhaps`);
      expectProblem(wrong, 422, 'invalid-input', ['/keepResources']);
    });
  });

  describe('tenancy', () => {
    it('shows a customer its instances and their resources, and lets it change nothing about the instances', async () => {
      const instance = await active();
      for (const keyType of ['organization', 'project'] as const) {
        const customer = await holder(projectId, keyType);
        assert.equal(expectStatus(await customer.get<InstanceDetails>(pathOf(instance)), 200).id, instance.id);
        const { instances } = expectStatus(await customer.get<{ instances: Named[] }>('/v1/instances'), 200);
        assert.ok(instances.some(({ id }) => id === instance.id));
        expectStatus(await customer.get(`/v1/flows/${flowIdOf(instance, 'welcome')}`), 200);
        const target = { targetTemplateVersionId: versionId(2) };
        for (const reply of [
          await customer.post('/v1/instances', validInput()),
          await customer.post(`${pathOf(instance)}/upgrade`, target),
          await customer.post(`${pathOf(instance)}/retry`),
          await customer.put(`${pathOf(instance)}/phone-number-requirements/main`, { phoneNumberId: null }),
          await customer.remove(pathOf(instance)),
        ]) {
          expectProblem(reply, 403, 'key-type-not-allowed');
        }
        const preview = `${pathOf(instance)}/upgrade-preview?targetTemplateVersionId=${versionId(2)}`;
        expectProblem(await customer.get(preview), 404, 'template-version-not-found');
      }
    });

    it('conceals instances from other partners and customers', async () => {
      const instance = await active();
      const stranger = await holder(await newProject(admin, await newOrganization(admin, true)), 'partner');
      const strangersCustomer = await customerOf(stranger, 'Meier');
      const sibling = await customerOf(partner, 'Meier');
      const body = { targetTemplateVersionId: versionId(2) };
      for (const client of [
        stranger,
        await holder(strangersCustomer.projectId, 'organization'),
        await holder(sibling.projectId, 'organization'),
        await holder(sibling.projectId, 'project'),
      ]) {
        const { instances } = expectStatus(await client.get<{ instances: Named[] }>('/v1/instances'), 200);
        assert.deepEqual(instances, []);
        for (const reply of [
          await client.get(pathOf(instance)),
          await client.get(`${pathOf(instance)}/upgrade-preview?targetTemplateVersionId=${versionId(2)}`),
          await client.post(`${pathOf(instance)}/upgrade`, body),
          await client.post(`${pathOf(instance)}/retry`),
          await client.put(`${pathOf(instance)}/phone-number-requirements/main`, { phoneNumberId: null }),
          await client.remove(pathOf(instance)),
        ]) {
          expectProblem(reply, 404, 'instance-not-found');
        }
      }
      expectProblem(await stranger.post('/v1/instances', validInput()), 404, 'template-version-not-found');
      const own = expectStatus(await stranger.post<Named>('/v1/templates', { name: 'T' }), 201);
      const theirs = await published(stranger, own.id, first);
      const inOurs = { ...validInput(), templateVersionId: theirs };
      expectProblem(await stranger.post('/v1/instances', inOurs), 404, 'project-not-found');
      expectStatus(await stranger.post('/v1/instances', { ...inOurs, projectId: strangersCustomer.projectId }), 201);
    });

    it('requires the scope for each operation on instances', async () => {
      const { projectId: home } = expectStatus(await admin.get<{ projectId: string }>('/v1/me'), 200);
      const keyOf = (...scopes: ReadonlyArray<string>) => newHolder(admin, home, 'partner', scopes);
      const instance = await active();
      const reader = await keyOf('instances:read');
      expectStatus(await reader.get(pathOf(instance)), 200);
      expectProblem(await reader.remove(pathOf(instance)), 403, 'scope-required');
      const writer = await keyOf('instances:write');
      expectProblem(await writer.get(pathOf(instance)), 403, 'scope-required');
      expectProblem(await writer.get('/v1/instances'), 403, 'scope-required');
      expectStatus(await writer.remove(pathOf(instance)), 200);
    });
  });
});
