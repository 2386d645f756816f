import assert from 'node:assert/strict';
import { createId } from '@paralleldrive/cuid2';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { runningService } from '#test/e2e/support/running-service.ts';
import { type KeyType, newHolder, newKey, newOrganization, newProject } from '#test/e2e/support/tenants.ts';
import { uploadText } from '#test/e2e/support/upload.ts';
import { payload } from '#test/support/inputs/template-payload.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { itInRounds } from '#test/support/run/long.ts';
import type { Client, Reply } from '#test/support/service/client.ts';
import { describeContract } from '#test/support/service/engines.ts';

type Created = Readonly<Record<string, unknown>> & { readonly id: string };

const profile = {
  name: 'Desk',
  flowIds: [],
  isDefault: false,
  supportedInputLanguages: ['en'],
  reasoningMode: 'balanced',
  outputVoiceId: 'narrator',
};

describeContract('reads of resources whose answers did not wait for the read models', (engines) => {
  const running = runningService(engines, { READ_YOUR_WRITES_TIMEOUT_MS: '0' });
  let admin: Client;
  let projectId: string;
  const creations = { few: 1, many: 20 };

  before(async () => {
    admin = running.client;
    projectId = await newProject(admin);
  });

  /** Reads a path until it is answered. A read model that is late is 503, and nothing is 404. */
  const shown = async (client: Client, path: string): Promise<Reply> => {
    for (;;) {
      const reply = await client.get(path);
      if (reply.status !== 503) return reply;
      assert.equal(reply.headers['retry-after'], '1');
      assert.match(reply.text, /read-model-behind/);
    }
  };
  const create = async (path: string, body: object, client = admin) => {
    const reply = await client.post<Created>(path, body);
    assert.ok(reply.status === 200 || reply.status === 201, reply.text);
    return reply.body;
  };
  const holder = async (keyType: KeyType, partner: boolean) =>
    newHolder(admin, await newProject(admin, await newOrganization(admin, partner)), keyType);

  itInRounds('finds what commands create under its own id, and lists under it', creations, async (rounds) => {
    for (let round = 0; round < rounds; round += 1) {
      const project = await newProject(admin);
      expectStatus(await shown(admin, `/v1/projects/${project}/flows`), 200);
      const flow = await create(`/v1/projects/${project}/flows`, { name: 'Flow', flowSchema: {} });
      expectStatus(await shown(admin, `/v1/flows/${flow.id}`), 200);
      const version = await create(`/v1/flows/${flow.id}/versions`, { flowSchema: {} });
      expectStatus(await shown(admin, `/v1/flow-versions/${version.id}`), 200);
      const other = await create(`/v1/projects/${project}/flows`, { name: 'Other', flowSchema: {} });
      expectStatus(await shown(admin, `/v1/flows/${other.id}/versions`), 200);
      const number = { name: 'Number', number: `desk ${project}`, flowId: flow.id };
      const { id } = await create(`/v1/projects/${project}/phone-numbers`, number);
      expectStatus(await shown(admin, `/v1/phone-numbers/${id}`), 200);
      const agent = await create(`/v1/projects/${project}/agent-profiles`, profile);
      expectStatus(await shown(admin, `/v1/agent-profiles/${agent.id}`), 200);
      const key = await newKey(admin, project, 'project');
      expectStatus(await shown(admin, `/v1/keys/${key.id}`), 200);
      const template = await create('/v1/templates', { name: 'Template' });
      expectStatus(await shown(admin, `/v1/templates/${template.id}`), 200);
      const release = await create(`/v1/templates/${template.id}/versions`, { payload: payload() });
      expectStatus(await shown(admin, `/v1/template-versions/${release.id}`), 200);
    }
  });

  itInRounds('finds files and stores, and the file of a store', creations, async (rounds) => {
    const client = await newHolder(admin, projectId, 'project');
    for (let round = 0; round < rounds; round += 1) {
      const file = await uploadText(client, 'text');
      expectStatus(await shown(client, `/v1/files/${file.id}`), 200);
      const store = await create('/v1/stores', { name: 'Store' }, client);
      expectStatus(await shown(client, `/v1/stores/${store.id}`), 200);
      await create(`/v1/stores/${store.id}/files`, { file_id: file.id }, client);
      expectStatus(await shown(client, `/v1/stores/${store.id}/files/${file.id}`), 200);
    }
  });

  itInRounds('finds a customer, and the project that a process creates for it', creations, async (rounds) => {
    const client = await holder('partner', true);
    const body = { name: 'Harbour Dental', clientEmail: 'office@harbour-dental.example' };
    for (let round = 0; round < rounds; round += 1) {
      const customer = await create('/v1/partner/customers', body, client);
      expectStatus(await shown(client, `/v1/projects/${customer.projectId}`), 200);
      expectStatus(await shown(client, `/v1/partner/customers/${customer.organizationId}`), 200);
    }
  });

  it('answers a deleted flow with 404 when the read models show its deletion', async () => {
    const flow = await create(`/v1/projects/${projectId}/flows`, { name: 'Flow', flowSchema: {} });
    expectStatus(await shown(admin, `/v1/flows/${flow.id}`), 200);
    expectStatus(await admin.remove(`/v1/flows/${flow.id}`), 204);
    await eventually(async () => (await shown(admin, `/v1/flows/${flow.id}`)).status === 404, 'it is deleted');
  });

  itInRounds('answers many unknown ids with 404 at the same time', { few: 500, many: 5_000 }, async (count) => {
    await create(`/v1/projects/${projectId}/flows`, { name: 'Flow', flowSchema: {} });
    const replies = await Promise.all(Array.from({ length: count }, () => admin.get(`/v1/flows/${createId()}`)));
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([404]));
  });

  itInRounds('answers another tenant’s new resource with 404', creations, async (rounds) => {
    const stranger = await holder('organization', false);
    for (let round = 0; round < rounds; round += 1) {
      const flow = await create(`/v1/projects/${projectId}/flows`, { name: 'Flow', flowSchema: {} });
      expectStatus(await stranger.get(`/v1/flows/${flow.id}`), 404);
    }
  });
});
