import assert from 'node:assert/strict';
import type { AgentProfileRecord } from '#domain/agent-profile/record.ts';
import type { FlowRecord } from '#domain/flow/record.ts';
import type { PhoneNumberRecord } from '#domain/phone-number/record.ts';
import { characters, expectProblem, expectRecord, expectStatus, unknownId } from '#test/e2e/support/expect.ts';
import { serviceOfProject } from '#test/e2e/support/running-service.ts';
import { newProject } from '#test/e2e/support/tenants.ts';
import type { Client } from '#test/support/service/client.ts';
import { describeOnEngines } from '#test/support/service/engines.ts';

const contents = {
  name: 'Desk',
  flowIds: [] as string[],
  isDefault: false,
  supportedInputLanguages: ['en', 'de'],
  reasoningMode: 'balanced',
  outputVoiceId: 'narrator',
};

describeOnEngines('phone numbers and agent profiles over HTTP', (engines) => {
  const running = serviceOfProject(engines);
  let client: Client;

  before(() => {
    client = running.client;
  });

  const newFlow = async (projectId: string) => {
    const reply = await client.post<FlowRecord>(`/v1/projects/${projectId}/flows`, { name: 'Flow', flowSchema: {} });
    return expectStatus(reply, 201);
  };
  let nextNumber = 0;
  /** Phone numbers without an E.164 form, which are compared as texts. */
  const freshNumber = () => {
    nextNumber += 1;
    return `desk ${nextNumber}`;
  };

  describe('phone numbers', () => {
    let projectId: string;
    let path: string;

    before(async () => {
      projectId = await newProject(client);
      path = `/v1/projects/${projectId}/phone-numbers`;
    });

    const created = async (body: object = {}) =>
      expectStatus(await client.post<PhoneNumberRecord>(path, { name: 'Number', number: freshNumber(), ...body }), 201);

    it('creates a phone number disabled, of type platform and without a flow by default', async () => {
      const number = freshNumber();
      const reply = await client.post<PhoneNumberRecord>(path, { name: 'Reception', number, unknown: 1 });
      const expected = { projectId, type: 'platform', name: 'Reception', number, status: 'disabled', flowId: null };
      expectRecord(expectStatus(reply, 201), { ...expected, externalPhoneFields: null });
      assert.match(reply.headers.etag ?? '', /^"\d+"$/);
      const read = await client.get(`/v1/phone-numbers/${reply.body.id}`);
      assert.deepEqual(expectStatus(read, 200), reply.body);
      assert.equal(read.headers.etag, reply.headers.etag);
    });

    it('refuses a platform number without an E.164 form only with Prefer: handling=strict', async () => {
      const headers = { prefer: 'handling=strict' };
      const send = (body: object) => client.post(path, { name: 'Strict', ...body }, headers);
      expectProblem(await send({ number: freshNumber() }), 422, 'invalid-input', ['/number']);
      expectStatus(await send({ number: freshNumber(), type: 'external' }), 201);
      expectStatus(await send({ number: '+49 30 901820' }), 201);
    });

    it('accepts every member of a phone number at its limits, and stores it unchanged', async () => {
      const flow = await newFlow(projectId);
      for (const body of [
        { name: 'x' },
        { name: characters(200) },
        { number: '7' },
        { number: characters(64) },
        { number: ' +44 20 7183 8752 ' },
        { status: 'enabled' },
        { status: 'disabled' },
        { type: 'platform' },
        { type: 'partner' },
        { type: 'external' },
        { flowId: null },
        { flowId: flow.id },
        { externalPhoneFields: null },
        { externalPhoneFields: {} },
        { externalPhoneFields: { sip: { host: ['a', 1, null] }, $x: 'a.b' } },
      ]) {
        const number = await created(body);
        for (const [name, value] of Object.entries(body)) {
          assert.deepEqual(number[name as keyof PhoneNumberRecord], value);
        }
        assert.deepEqual(expectStatus(await client.get(`/v1/phone-numbers/${number.id}`), 200), number);
      }
    });

    it('refuses members of a phone number beyond their limits, with pointers', async () => {
      const good = { name: 'Number', number: '1' };
      for (const [body, ...pointers] of [
        [{ ...good, name: '' }, '/name'],
        [{ ...good, name: characters(201) }, '/name'],
        [{ ...good, number: '' }, '/number'],
        [{ ...good, number: characters(65) }, '/number'],
        [{ ...good, number: 442071838750 }, '/number'],
        [{ ...good, status: 'on' }, '/status'],
        [{ ...good, status: null }, '/status'],
        [{ ...good, type: 'sip' }, '/type'],
        [{ ...good, type: null }, '/type'],
        [{ ...good, flowId: 'flow' }, '/flowId'],
        [{ ...good, externalPhoneFields: [] }, '/externalPhoneFields'],
        [{ ...good, externalPhoneFields: 'x' }, '/externalPhoneFields'],
        [{}, '/name', '/number'],
      ] as ReadonlyArray<[object, ...string[]]>) {
        expectProblem(await client.post(path, body), 422, 'invalid-input', pointers);
      }
    });

    it('refuses a phone number for a flow of another project', async () => {
      const foreign = await newFlow(await newProject(client));
      const gone = await newFlow(projectId);
      expectStatus(await client.remove(`/v1/flows/${gone.id}`), 204);
      const number = await created();
      for (const flowId of [unknownId, foreign.id, gone.id]) {
        expectProblem(await client.post(path, { name: 'n', number: 'x', flowId }), 404, 'flow-not-found');
        const target = `/v1/phone-numbers/${number.id}/flow`;
        expectProblem(await client.patch(target, { flowId }), 404, 'flow-not-found');
      }
      expectProblem(await client.post(`/v1/projects/${unknownId}/phone-numbers`, {}), 404, 'project-not-found');
      assert.deepEqual(expectStatus(await client.get(`/v1/phone-numbers/${number.id}`), 200), number);
    });

    it('sets and clears the flow of a phone number by PATCH …/flow, and changes nothing else', async () => {
      const flow = await newFlow(projectId);
      const number = await created({ status: 'enabled' });
      const target = `/v1/phone-numbers/${number.id}/flow`;
      const attached = await client.patch(target, { flowId: flow.id, status: 'disabled' });
      expectRecord(expectStatus(attached, 200), { ...number, flowId: flow.id });
      const again = await client.patch(target, { flowId: flow.id });
      assert.deepEqual(expectStatus(again, 200), attached.body);
      assert.equal(again.headers.etag, attached.headers.etag);
      expectRecord(expectStatus(await client.patch(target, { flowId: null }), 200), number);
      for (const body of [{}, { flowId: 5 }, { flowId: '' }]) {
        expectProblem(await client.patch(target, body), 422, 'invalid-input', ['/flowId']);
      }
      expectProblem(await client.patch(`/v1/phone-numbers/${unknownId}/flow`, {}), 404, 'phone-number-not-found');
    });

    it('renames, enables and disables a phone number by PATCH', async () => {
      const number = await created();
      const target = `/v1/phone-numbers/${number.id}`;
      const changed = await client.patch(target, { name: characters(200), status: 'enabled', number: 'other' });
      expectRecord(expectStatus(changed, 200), { ...number, name: characters(200), status: 'enabled' });
      const back = await client.patch(target, { status: 'disabled' });
      expectRecord(expectStatus(back, 200), { ...number, name: characters(200) });
      const same = await client.patch(target, {});
      assert.equal(same.headers.etag, back.headers.etag);
      const bad = { name: '', status: 'off' };
      expectProblem(await client.patch(target, bad), 422, 'invalid-input', ['/name', '/status']);
      expectProblem(await client.patch(`/v1/phone-numbers/${unknownId}`, bad), 404, 'phone-number-not-found');
    });

    it('deletes a phone number with its last record, and then answers 404', async () => {
      const number = await created();
      const target = `/v1/phone-numbers/${number.id}`;
      const renamed = expectStatus(await client.patch(target, { name: 'Last' }), 200);
      assert.deepEqual(expectStatus(await client.remove(target), 200), renamed);
      expectProblem(await client.remove(target), 404, 'phone-number-not-found');
      expectProblem(await client.get(target), 404, 'phone-number-not-found');
      expectProblem(await client.patch(target, { name: 'x' }), 404, 'phone-number-not-found');
      expectProblem(await client.patch(`${target}/flow`, { flowId: null }), 404, 'phone-number-not-found');
      const { phoneNumbers } = expectStatus(await client.get<{ phoneNumbers: PhoneNumberRecord[] }>(path), 200);
      assert.ok(!phoneNumbers.some(({ id }) => id === number.id));
    });

    it('lists phone numbers with every member', async () => {
      const number = await created({ externalPhoneFields: { a: 1 } });
      const { phoneNumbers } = expectStatus(await client.get<{ phoneNumbers: PhoneNumberRecord[] }>(path), 200);
      assert.deepEqual(phoneNumbers.at(-1), number);
    });
  });

  describe('agent profiles', () => {
    let projectId: string;
    let path: string;

    beforeEach(async () => {
      projectId = await newProject(client);
      path = `/v1/projects/${projectId}/agent-profiles`;
    });

    const created = async (body: object = {}) =>
      expectStatus(await client.post<AgentProfileRecord>(path, { ...contents, ...body }), 201);
    const read = async (id: string) =>
      expectStatus(await client.get<AgentProfileRecord>(`/v1/agent-profiles/${id}`), 200);

    it('creates an agent profile with its six members, and returns and lists it', async () => {
      const flow = await newFlow(projectId);
      const reply = await client.post(path, { ...contents, flowIds: [flow.id], unknown: 1 });
      const expected = { ...contents, projectId, flowIds: [flow.id] };
      expectRecord(expectStatus(reply, 201), expected);
      assert.match(reply.headers.etag ?? '', /^"\d+"$/);
      const one = await client.get<AgentProfileRecord>(`/v1/agent-profiles/${reply.body.id}`);
      expectRecord(expectStatus(one, 200), expected);
      assert.equal(one.headers.etag, reply.headers.etag);
      const list = expectStatus(await client.get<{ agentProfiles: AgentProfileRecord[] }>(path), 200);
      assert.deepEqual(list, { agentProfiles: [one.body] });
    });

    it('accepts texts of any length and any reasoning mode in an agent profile', async () => {
      const long = characters(6_000);
      const body = { ...contents, name: '', reasoningMode: long, outputVoiceId: '', supportedInputLanguages: [] };
      const profile = await created(body);
      expectRecord(profile, { ...body, projectId });
      const replaced = await client.put(`/v1/agent-profiles/${profile.id}`, { ...body, name: long });
      expectRecord(expectStatus(replaced, 200), { ...body, name: long, projectId });
    });

    it('requires all six members of an agent profile, of their types, on POST and PUT', async () => {
      const { id } = await created();
      const bad = { name: 1, flowIds: ['x', 2], isDefault: 'yes', supportedInputLanguages: 'en', reasoningMode: null };
      const badPointers = ['/name', '/flowIds/1', '/isDefault', '/supportedInputLanguages', '/reasoningMode'];
      for (const call of [
        (body: object) => client.post(path, body),
        (body: object) => client.put(`/v1/agent-profiles/${id}`, body),
      ]) {
        const every = Object.keys(contents).map((name) => `/${name}`);
        expectProblem(await call({}), 422, 'invalid-input', every);
        for (const name of Object.keys(contents)) {
          expectProblem(await call({ ...contents, [name]: undefined }), 422, 'invalid-input', [`/${name}`]);
        }
        expectProblem(await call(bad), 422, 'invalid-input', [...badPointers, '/outputVoiceId']);
      }
    });

    it('answers 404 for an unknown agent profile and for a flow of another project', async () => {
      const foreign = await newFlow(await newProject(client));
      const { id } = await created();
      for (const flowId of [foreign.id, unknownId, 'no id at all']) {
        expectProblem(await client.post(path, { ...contents, flowIds: [flowId] }), 404, 'flow-not-found');
        const body = { ...contents, flowIds: [flowId] };
        expectProblem(await client.put(`/v1/agent-profiles/${id}`, body), 404, 'flow-not-found');
      }
      for (const nothing of [unknownId, `${projectId}zzzzzzzz`, '1', projectId]) {
        const target = `/v1/agent-profiles/${nothing}`;
        expectProblem(await client.get(target), 404, 'agent-profile-not-found');
        expectProblem(await client.put(target, {}), 404, 'agent-profile-not-found');
        expectProblem(await client.remove(target), 404, 'agent-profile-not-found');
      }
    });

    it('keeps at most one default agent profile, which moves by isDefault and cannot be unset', async () => {
      const first = await created({ isDefault: true });
      const second = await created({ isDefault: true });
      assert.equal((await read(first.id)).isDefault, false);
      assert.equal((await read(second.id)).isDefault, true);
      const target = `/v1/agent-profiles/${second.id}`;
      expectProblem(await client.put(target, contents), 409, 'default-agent-profile-required');
      expectProblem(await client.remove(target), 409, 'default-agent-profile-required');
      const moved = await client.put(`/v1/agent-profiles/${first.id}`, { ...contents, isDefault: true });
      assert.equal(expectStatus(moved, 200).isDefault, true);
      assert.equal((await read(second.id)).isDefault, false);
      expectStatus(await client.remove(target), 200);
      const last = expectStatus(await client.remove<AgentProfileRecord>(`/v1/agent-profiles/${first.id}`), 200);
      assert.equal(last.isDefault, true);
      assert.deepEqual(expectStatus(await client.get(path), 200), { agentProfiles: [] });
      expectProblem(await client.remove(target), 404, 'agent-profile-not-found');
    });

    it('shows the relation of flows and agent profiles on both sides at the same time', async () => {
      const [one, two] = [await newFlow(projectId), await newFlow(projectId)];
      const profile = await created({ flowIds: [one.id] });
      const target = `/v1/agent-profiles/${profile.id}`;
      const profileOf = async (id: string) =>
        expectStatus(await client.get<FlowRecord>(`/v1/flows/${id}`), 200).agentProfileId;
      assert.equal(await profileOf(one.id), profile.id);

      expectStatus(await client.put(target, { ...contents, flowIds: [two.id] }), 200);
      assert.deepEqual([await profileOf(one.id), await profileOf(two.id)], [null, profile.id]);
      assert.deepEqual((await read(profile.id)).flowIds, [two.id]);

      const { etag } = (await client.get(target)).headers;
      expectStatus(await client.patch(`/v1/flows/${one.id}`, { agentProfileId: profile.id }), 200);
      assert.deepEqual((await read(profile.id)).flowIds.toSorted(), [one.id, two.id].toSorted());
      assert.equal((await client.get(target)).headers.etag, etag, 'an assignment made on a flow moves no profile');

      const created3 = await client.post<FlowRecord>(`/v1/projects/${projectId}/flows`, {
        name: 'Three',
        flowSchema: {},
        agentProfileId: profile.id,
      });
      assert.equal(expectStatus(created3, 201).agentProfileId, profile.id);
      assert.equal((await read(profile.id)).flowIds.length, 3);

      expectStatus(await client.remove(`/v1/flows/${two.id}`), 204);
      assert.equal((await read(profile.id)).flowIds.length, 2);
      expectStatus(await client.remove(target), 200);
      assert.deepEqual([await profileOf(one.id), await profileOf(created3.body.id)], [null, null]);
    });

    it('moves a flow from another agent profile', async () => {
      const flow = await newFlow(projectId);
      const first = await created({ flowIds: [flow.id] });
      const second = await created({ flowIds: [flow.id] });
      assert.deepEqual((await read(first.id)).flowIds, []);
      assert.deepEqual((await read(second.id)).flowIds, [flow.id]);
    });
  });
});
