import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FlowRecord } from '#domain/flow/record.ts';
import type { InstanceDetails } from '#domain/instance/record.ts';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { field, payload, payloadFlow } from '#test/support/inputs/template-payload.ts';
import { itInManyRounds } from '#test/support/run/long.ts';
import type { Client } from '#test/support/service/client.ts';
import { poll, startService, temporaryFolder } from '#test/support/service/service-process.ts';

type Named = { readonly id: string };

const instances = 12;
const flowKeys = ['a', 'b', 'c'];
const settleMs = 60_000;

const contents = (text: string) => ({
  payload: payload({
    flows: flowKeys.map((key) => payloadFlow({ key, name: key, flowSchema: `${text} {{fields.name}}` })),
  }),
  fieldsSchema: [field()],
});

describe('provisioning of instances under kill -9', function () {
  this.timeout(180_000);

  const title = 'completes the last requested operation of every instance, and leaves no resources behind';
  itInManyRounds(title, 8, async (kills) => {
    const folder = temporaryFolder();
    let service = await startService({ dataDir: folder.path });
    try {
      const { projectId } = expectStatus(await service.client.get<{ projectId: string }>('/v1/me'), 200);
      const template = expectStatus(await service.client.post<Named>('/v1/templates', { name: 'T' }), 201);
      const versionOf = async (text: string) => {
        const path = `/v1/templates/${template.id}/versions`;
        const version = expectStatus(await service.client.post<Named>(path, contents(text)), 201);
        expectStatus(await service.client.post(`/v1/template-versions/${version.id}/publish`), 200);
        return version.id;
      };
      let templateVersionId = await versionOf('version 0');
      const ids: string[] = [];
      for (let number = 0; number < instances; number += 1) {
        const body = { templateVersionId, projectId, name: `I${number}`, fieldValues: { name: `${number}` } };
        ids.push(expectStatus(await service.client.post<Named>('/v1/instances', body), 201).id);
      }
      for (let kill = 1; kill <= kills; kill += 1) {
        await sleep(40 * Math.random());
        await service.kill();
        service = await startService({ dataDir: folder.path });
        templateVersionId = await versionOf(`version ${kill}`);
        const body = { targetTemplateVersionId: templateVersionId };
        for (const id of ids) expectStatus(await service.client.post(`/v1/instances/${id}/upgrade`, body), 200);
      }
      for (const [number, id] of ids.entries()) {
        const { status, templateVersionId: shown, drifted } = await settled(service.client, id);
        assert.deepEqual([status, shown, drifted], ['active', templateVersionId, []], `instance ${number}`);
      }
      const list = await service.client.get<{ flows: FlowRecord[] }>(`/v1/projects/${projectId}/flows`);
      assert.equal(expectStatus(list, 200).flows.length, instances * flowKeys.length);
      for (const id of ids) expectStatus(await service.client.remove(`/v1/instances/${id}`), 200);
      await service.kill();
      service = await startService({ dataDir: folder.path });
      for (const name of ['flows', 'agent-profiles']) {
        const gone = await poll(async () => {
          const reply = await service.client.get<Record<string, unknown[]>>(`/v1/projects/${projectId}/${name}`);
          return Object.values(expectStatus(reply, 200)).every((items) => items.length === 0);
        }, settleMs);
        assert.ok(gone, `${name} are left behind`);
      }
    } finally {
      await service.kill();
      folder.remove();
    }
  });
});

async function settled(client: Client, id: string): Promise<InstanceDetails> {
  const found = await poll(async () => {
    const details = expectStatus(await client.get<InstanceDetails>(`/v1/instances/${id}`), 200);
    return details.operation === null ? details : null;
  }, settleMs);
  assert.ok(found, 'the operation does not end');
  return found;
}
