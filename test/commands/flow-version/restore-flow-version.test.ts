import assert from 'node:assert/strict';
import { createFlow } from '#commands/flow/create-flow.ts';
import { createFlowVersion } from '#commands/flow-version/create-flow-version.ts';
import { deleteFlowVersion } from '#commands/flow-version/delete-flow-version.ts';
import { restoreFlowVersion } from '#commands/flow-version/restore-flow-version.ts';
import { newEvent } from '#domain/shared/event.ts';
import { begunFlow, versionCreated, versionOf } from '#test/support/events/flow-events.ts';
import { ids, newIds } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { seedProjects } from '#test/support/harness/seed.ts';

const versionId = versionOf(ids.flow, 1);

/** A service with a flow of two versions. @returns their ids */
async function twoVersions() {
  const service = new Service();
  await seedProjects(service.store);
  const body = { name: 'Hours', flowSchema: { say: 'one' } };
  const { id: flowId } = (await service.ok(createFlow, { projectId: ids.project }, { body })).body;
  const path = { flowId: String(flowId) };
  const second = await service.ok(createFlowVersion, path, { body: { flowSchema: { say: 'two' } } });
  const first = service.store.log.find(({ type }) => type === 'FlowVersionCreated');
  return { service, first: String(first?.data.id), second: String(second.body.id) };
}

describe('restore_flow_version', () => {
  it('adds an inactive version with the schema of the earlier one and the next number', () => {
    const flowSchema = { say: 'hello 1' };
    givenHistory(...begunFlow(), versionCreated(2))
      .when(restoreFlowVersion, { versionId }, { related: flowSchema })
      .then(
        newEvent('FlowVersionCreated', {
          id: ids.flow + newIds.suffix,
          flowId: ids.flow,
          version: 3,
          tag: 'v3',
          flowSchema,
          restoredFrom: versionId,
        }),
      );
  });

  it('answers the new version, and the same one again for the same Idempotency-Key', async () => {
    const { service, first } = await twoVersions();
    const restore = () => service.ok(restoreFlowVersion, { versionId: first }, { idempotencyKey: 'restore 1' });
    const { body, status } = await restore();
    assert.deepEqual(
      [status, body.version, body.flowSchema, body.isActive, body.restoredFrom],
      [201, 3, { say: 'one' }, false, first],
    );
    assert.deepEqual((await restore()).body, body);
    assert.equal(service.store.types().filter((type) => type === 'FlowVersionCreated').length, 3);
  });

  it('restores a restored version, and refuses an unknown version', async () => {
    const { service, first, second } = await twoVersions();
    const copy = await service.ok(restoreFlowVersion, { versionId: first });
    const again = await service.ok(restoreFlowVersion, { versionId: String(copy.body.id) });
    assert.deepEqual([again.body.flowSchema, again.body.restoredFrom], [{ say: 'one' }, copy.body.id]);
    await service.ok(deleteFlowVersion, { versionId: second });
    assert.equal(await service.refusal(restoreFlowVersion, { versionId: second }), 'flow-version-not-found');
  });

  describe('input of restore_flow_version', () => {
    inputOf(restoreFlowVersion, { versionId }).id('versionId');
  });
});
