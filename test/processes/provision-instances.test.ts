import assert from 'node:assert/strict';
import { createAgentProfile } from '#commands/agent-profile/create-agent-profile.ts';
import { deleteAgentProfile } from '#commands/agent-profile/delete-agent-profile.ts';
import { replaceAgentProfile } from '#commands/agent-profile/replace-agent-profile.ts';
import { deleteFlow } from '#commands/flow/delete-flow.ts';
import { updateFlow } from '#commands/flow/update-flow.ts';
import { activateFlowVersion } from '#commands/flow-version/activate-flow-version.ts';
import { createFlowVersion } from '#commands/flow-version/create-flow-version.ts';
import { deleteStore } from '#commands/store/delete-store.ts';
import { provisionInstances } from '#processes/provision-instances.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { InstanceScenario } from '#test/support/events/instance-scenario.ts';
import { ids } from '#test/support/events/tenants.ts';
import type { Service } from '#test/support/harness/in-memory-service.ts';
import { interruptAtEachAppend } from '#test/support/harness/process-harness.ts';
import { profileInput } from '#test/support/inputs/profile-input.ts';
import { field, payload, payloadFlow } from '#test/support/inputs/template-payload.ts';

const contents = {
  payload: payload({
    flows: [
      payloadFlow({ flowSchema: { say: 'Hello {{fields.name}}', limit: '{{fields.limit}}' } }),
      payloadFlow({ key: 'bye', name: 'Bye', flowType: 'graph', flowSchema: ['bye'] }),
    ],
  }),
  fieldsSchema: [field(), field({ key: 'limit', type: 'number', required: false, defaultValue: '10' })],
};

/** The second version: `welcome` changed, `bye` unchanged. */
const changed = {
  ...contents,
  payload: payload({
    ...contents.payload,
    flows: [
      payloadFlow({ name: 'Greeting', flowType: 'graph', flowSchema: 'Hi {{fields.name}}' }),
      payloadFlow({ key: 'bye', name: 'Bye', flowType: 'graph', flowSchema: ['bye'] }),
    ],
  }),
};

/** An active instance, and a second version to upgrade it to. */
async function provisioned() {
  const scenario = await InstanceScenario.begin();
  const [first, second] = [await scenario.version(contents), await scenario.version(changed)];
  const id = await scenario.create(first, { name: 'Weber' });
  await scenario.driver.settle();
  const { resources } = await scenario.instance(id);
  const flowId = (key: string) => resources.flows.find((flow) => flow.key === key)?.flowId ?? '';
  return { scenario, id, first, second, resources, flowId };
}

/** Deletes a flow when its new version is prepared and not active yet. */
function deleteWhilePrepared({ service }: InstanceScenario, flowId: string): void {
  service.store.beforeAppend = async ({ events }) => {
    if (events[0]?.type !== 'InstanceProgressed') return null;
    service.store.beforeAppend = async () => null;
    await service.ok(deleteFlow, { flowId });
    return null;
  };
}

describe('provisionInstances', () => {
  it('creates the resources of the template, filled with the field values', async () => {
    const scenario = await InstanceScenario.begin();
    const version = await scenario.version(contents);
    const id = await scenario.create(version, { name: 'Weber' });
    assert.equal((await scenario.instance(id)).status, 'provisioning');
    assert.deepEqual((await scenario.project()).flows, []);
    await scenario.driver.settle();
    const record = await scenario.instance(id);
    assert.equal(record.status, 'active');
    assert.equal(record.organizationId, ids.customer);
    const { flows, profiles, stores } = await scenario.project();
    const agentProfileId = record.resources.agentProfileId;
    assert.deepEqual(profiles, [{ id: agentProfileId, name: 'Desk' }]);
    assert.deepEqual(stores, [{ id: record.resources.stores[0]?.storeId, name: 'Questions' }]);
    assert.deepEqual(flows, [
      {
        id: record.resources.flows[0]?.flowId,
        name: 'Welcome',
        type: 'simple',
        agentProfileId,
        schema: { say: 'Hello Weber', limit: 10 },
        versions: 1,
      },
      {
        id: record.resources.flows[1]?.flowId,
        name: 'Bye',
        type: 'graph',
        agentProfileId,
        schema: ['bye'],
        versions: 1,
      },
    ]);
  });

  describe('provisionInstances after manual changes', () => {
    it('replaces manual changes during an upgrade, and keeps the replaced version of a flow', async () => {
      const { scenario, id, second, flowId } = await provisioned();
      const made = await scenario.service.ok(
        createFlowVersion,
        { flowId: flowId('welcome') },
        { body: { flowSchema: 'ours' } },
      );
      await scenario.service.ok(activateFlowVersion, { versionId: String(made.body.id) });
      await scenario.service.ok(updateFlow, { flowId: flowId('bye') }, { body: { name: 'Our bye' } });
      await scenario.upgrade(id, second);
      await scenario.driver.settle();
      const { flows } = await scenario.project();
      assert.deepEqual(
        flows.map(({ name, type, schema, versions }) => [name, type, schema, versions]),
        [
          ['Greeting', 'graph', 'Hi Weber', 3],
          ['Bye', 'graph', ['bye'], 2],
        ],
      );
    });

    it('creates resources again that were deleted before an upgrade', async () => {
      const { scenario, id, second, resources, flowId } = await provisioned();
      await scenario.service.ok(deleteFlow, { flowId: flowId('welcome') });
      await scenario.service.ok(deleteAgentProfile, { agentProfileId: resources.agentProfileId ?? '' });
      await scenario.service.ok(deleteStore, { store_id: resources.stores[0]?.storeId ?? '' });
      await scenario.upgrade(id, second);
      await scenario.driver.settle();
      const { flows, profiles, stores } = await scenario.project();
      const record = await scenario.instance(id);
      assert.equal(record.status, 'active');
      assert.deepEqual(
        flows.map(({ id: each, agentProfileId }) => [each, agentProfileId]),
        [
          [flowId('bye'), record.resources.agentProfileId],
          [record.resources.flows[0]?.flowId, record.resources.agentProfileId],
        ],
      );
      assert.deepEqual([profiles.length, stores.length], [1, 1]);
    });

    it('undoes an upgrade whose flow is deleted meanwhile, reports that, and creates the flow again on retry', async () => {
      const { scenario, id, second, flowId } = await provisioned();
      await scenario.upgrade(id, second);
      deleteWhilePrepared(scenario, flowId('bye'));
      await scenario.driver.settle();
      const undone = await scenario.instance(id);
      assert.deepEqual([undone.status, undone.lastOperation?.outcome], ['active', 'undone']);
      assert.match(
        undone.lastOperation?.reason ?? '',
        /^The flow "bye" was deleted while the operation ran\. Try again/,
      );
      const [left] = (await scenario.project()).flows;
      assert.deepEqual([left?.name, left?.type, left?.versions], ['Welcome', 'simple', 1]);
      await scenario.retry(id);
      await scenario.driver.settle();
      const again = await scenario.instance(id);
      assert.deepEqual([again.status, again.templateVersionId], ['active', second]);
      assert.deepEqual(
        (await scenario.project()).flows.map(({ name }) => name),
        ['Greeting', 'Bye'],
      );
    });

    it('restores the manually activated version when an upgrade is undone', async () => {
      const { scenario, id, flowId } = await provisioned();
      const { body } = await scenario.service.ok(
        createFlowVersion,
        { flowId: flowId('welcome') },
        { body: { flowSchema: 'ours' } },
      );
      await scenario.service.ok(activateFlowVersion, { versionId: String(body.id) });
      const second = await scenario.version(changed);
      await scenario.upgrade(id, second);
      deleteWhilePrepared(scenario, flowId('bye'));
      await scenario.driver.settle();
      assert.equal((await scenario.instance(id)).lastOperation?.outcome, 'undone');
      const welcome = (await scenario.project()).flows.find((flow) => flow.id === flowId('welcome'));
      assert.deepEqual([welcome?.schema, welcome?.type, welcome?.versions], ['ours', 'simple', 2]);
    });

    it('keeps an agent profile that became the default beside others when the instance is deleted', async () => {
      const { scenario, id, resources } = await provisioned();
      const path = { projectId: ids.customerProject };
      const body = (name: string, isDefault: boolean) => ({ ...profileInput({ name }), isDefault, flowIds: [] });
      await scenario.service.ok(createAgentProfile, path, { body: body('Ours', false) });
      const theirs = { agentProfileId: resources.agentProfileId ?? '' };
      await scenario.service.ok(replaceAgentProfile, theirs, { body: body('Desk', true) });
      await scenario.remove(id);
      await scenario.driver.settle();
      const { flows, profiles, stores } = await scenario.project();
      assert.deepEqual([flows, stores], [[], []]);
      assert.deepEqual(profiles.map(({ name }) => name).toSorted(), ['Desk', 'Ours']);
    });
  });

  it('retries a failing step with growing pauses, then gives up and undoes the operation', async () => {
    const scenario = await InstanceScenario.begin();
    const id = await scenario.create(await scenario.version(contents), { name: 'Weber' });
    let refused = 0;
    scenario.service.store.beforeAppend = async ({ stream }) => {
      if (!stream.startsWith('store-')) return null;
      refused += 1;
      return refused <= 8 ? { kind: 'unavailable', detail: 'the disk is full.', retryAfterSeconds: 1 } : null;
    };
    await scenario.driver.settle();
    const attempts = scenario.service.store.log.filter(({ type }) => type === 'InstanceAttemptFailed');
    assert.deepEqual(
      attempts.map(({ data }) => data.attempt),
      [1, 2, 3, 4, 5, 6, 7],
    );
    const pauses = attempts.map(({ data, metadata }) => Date.parse(String(data.retryAt)) - Date.parse(metadata.time));
    for (const [index, pause] of pauses.entries()) {
      const wanted = Math.min(250 * 2 ** index, 60_000);
      assert.ok(Math.abs(pause - wanted) < 200, `${pause} is not about ${wanted}`);
    }
    const { status, lastOperation } = await scenario.instance(id);
    assert.equal(status, 'failed');
    assert.match(lastOperation?.reason ?? '', /the disk is full\. \(tried 8 times\)$/);
    assert.deepEqual(await scenario.project(), { flows: [], profiles: [], stores: [] });
  });

  describe('provisionInstances with a flow too large once its fields are filled', () => {
    const long = 'x'.repeat(400_000);
    const greeting = payloadFlow({ flowSchema: '{{fields.name}}{{fields.name}}{{fields.name}}' });
    const growing = { ...contents, payload: payload({ flows: [greeting] }) };

    it('undoes the upgrade, and advises another upgrade instead of a retry', async () => {
      const { scenario, id, first } = await provisioned();
      const target = await scenario.version(growing);
      await scenario.upgrade(id, target, { newFieldValues: { name: long } });
      await scenario.driver.settle();
      const undone = await scenario.instance(id);
      assert.deepEqual([undone.templateVersionId, undone.lastOperation?.outcome], [first, 'undone']);
      const advice =
        /too large.*A retry fails in the same way: upgrade again with shorter newFieldValues, or to a smaller version\.$/;
      assert.match(undone.lastOperation?.reason ?? '', advice);
      await scenario.retry(id);
      await scenario.driver.settle();
      const { reason, outcome } = (await scenario.instance(id)).lastOperation ?? {};
      assert.deepEqual([reason, outcome], [undone.lastOperation?.reason, 'undone']);
      await scenario.upgrade(id, target, { newFieldValues: { name: 'Weber' } });
      await scenario.driver.settle();
      const { status, templateVersionId } = await scenario.instance(id);
      assert.deepEqual([status, templateVersionId], ['active', target]);
    });

    it('fails a first provisioning, and advises a newer version or another instance instead of a retry', async () => {
      const scenario = await InstanceScenario.begin();
      const first = await scenario.version(growing);
      const id = await scenario.create(first, { name: long });
      await scenario.driver.settle();
      const failed = await scenario.instance(id);
      assert.equal(failed.status, 'failed');
      const advice =
        /too large.*A retry fails in the same way: upgrade to a newer version with shorter newFieldValues, or delete the instance and create it again with shorter fieldValues\.$/;
      assert.match(failed.lastOperation?.reason ?? '', advice);
      await scenario.retry(id);
      await scenario.driver.settle();
      assert.equal((await scenario.instance(id)).lastOperation?.reason, failed.lastOperation?.reason);
      await scenario.upgrade(id, await scenario.version(growing), { newFieldValues: { name: 'Weber' } });
      const another = await scenario.create(first, { name: 'Weber' });
      await scenario.driver.settle();
      for (const each of [id, another]) assert.equal((await scenario.instance(each)).status, 'active');
    });
  });

  it('continues when the template could not be read for a while', async () => {
    const scenario = await InstanceScenario.begin();
    const id = await scenario.create(await scenario.version(contents), { name: 'Weber' });
    const { store } = scenario.service;
    const read = store.read.bind(store);
    let left = 3;
    store.read = async (stream, ...rest) => {
      if (!stream.startsWith('template-') || left === 0) return read(stream, ...rest);
      left -= 1;
      throw new UnavailableError('the event store does not answer.');
    };
    await scenario.driver.settle();
    assert.equal(left, 0);
    assert.equal((await scenario.instance(id)).status, 'active');
  });

  it('provisions resources in the name of the requesting actor', async () => {
    const { scenario } = await provisioned();
    const made = scenario.service.store.log.find(({ type }) => type === 'FlowCreated');
    const [request] = scenario.service.store.log.filter(({ type }) => type === 'InstanceCreated');
    assert.deepEqual(made?.metadata.actor, request?.metadata.actor);
    assert.equal(made?.metadata.$causationId, request?.id);
    assert.deepEqual(
      [made?.metadata.organizationId, made?.metadata.projectId, made?.metadata.partnerId],
      [ids.customer, ids.customerProject, ids.partner],
    );
  });

  it('gives the same result wherever it ends and starts again', async function () {
    this.timeout(180_000);
    let id = '';
    const begin = async () => {
      const scenario = await provisioned();
      await scenario.scenario.upgrade(scenario.id, scenario.second);
      id = scenario.id;
      return scenario.scenario.service;
    };
    const outcome = async (service: Service) => {
      const scenario = new InstanceScenario(service);
      const { status, lastOperation } = await scenario.instance(id);
      const { flows, profiles, stores } = await scenario.project();
      const shown = flows.map(({ name, type, schema, versions }) => [name, type, schema, versions]);
      return [status, lastOperation?.outcome, shown, profiles.length, stores.length];
    };
    await interruptAtEachAppend(provisionInstances(), begin, outcome, assert.deepEqual);
  });
});
