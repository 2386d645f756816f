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
import { InstanceStory } from '#test/support/events/instance-scenario.ts';
import { ids } from '#test/support/events/tenants.ts';
import type { Service } from '#test/support/harness/in-memory-service.ts';
import { endedEverywhere } from '#test/support/harness/process-harness.ts';
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

/** The second version: `welcome` changed, `bye` as it was. */
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
  const story = await InstanceStory.begun();
  const [first, second] = [await story.version(contents), await story.version(changed)];
  const id = await story.create(first, { name: 'Weber' });
  await story.drive.settle();
  const { resources } = await story.instance(id);
  const flowId = (key: string) => resources.flows.find((flow) => flow.key === key)?.flowId ?? '';
  return { story, id, first, second, resources, flowId };
}

/** A flow is deleted when its new version is prepared and not active yet. */
function deleteWhilePrepared({ service }: InstanceStory, flowId: string): void {
  service.store.beforeAppend = async ({ events }) => {
    if (events[0]?.type !== 'InstanceProgressed') return null;
    service.store.beforeAppend = async () => null;
    await service.ok(deleteFlow, { flowId });
    return null;
  };
}

describe('provision-instances', () => {
  it('makes what the template says, filled with the values', async () => {
    const story = await InstanceStory.begun();
    const version = await story.version(contents);
    const id = await story.create(version, { name: 'Weber' });
    assert.equal((await story.instance(id)).status, 'provisioning');
    assert.deepEqual((await story.project()).flows, []);
    await story.drive.settle();
    const record = await story.instance(id);
    assert.equal(record.status, 'active');
    assert.equal(record.organizationId, ids.customer);
    const { flows, profiles, stores } = await story.project();
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

  describe('where somebody changes things by hand', () => {
    it('replaces what was changed before an upgrade; what was replaced stays as a version', async () => {
      const { story, id, second, flowId } = await provisioned();
      const made = await story.service.ok(
        createFlowVersion,
        { flowId: flowId('welcome') },
        { body: { flowSchema: 'ours' } },
      );
      await story.service.ok(activateFlowVersion, { versionId: String(made.body.id) });
      await story.service.ok(updateFlow, { flowId: flowId('bye') }, { body: { name: 'Our bye' } });
      await story.upgrade(id, second);
      await story.drive.settle();
      const { flows } = await story.project();
      assert.deepEqual(
        flows.map(({ name, type, schema, versions }) => [name, type, schema, versions]),
        [
          ['Greeting', 'graph', 'Hi Weber', 3],
          ['Bye', 'graph', ['bye'], 2],
        ],
      );
    });

    it('makes anew what was deleted before an upgrade', async () => {
      const { story, id, second, resources, flowId } = await provisioned();
      await story.service.ok(deleteFlow, { flowId: flowId('welcome') });
      await story.service.ok(deleteAgentProfile, { agentProfileId: resources.agentProfileId ?? '' });
      await story.service.ok(deleteStore, { store_id: resources.stores[0]?.storeId ?? '' });
      await story.upgrade(id, second);
      await story.drive.settle();
      const { flows, profiles, stores } = await story.project();
      const record = await story.instance(id);
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

    it('undoes an upgrade where a flow is deleted under it, says so, and makes it anew when it is tried again', async () => {
      const { story, id, second, flowId } = await provisioned();
      await story.upgrade(id, second);
      deleteWhilePrepared(story, flowId('bye'));
      await story.drive.settle();
      const undone = await story.instance(id);
      assert.deepEqual([undone.status, undone.lastOperation?.outcome], ['active', 'undone']);
      assert.match(
        undone.lastOperation?.reason ?? '',
        /^The flow "bye" was deleted while the operation ran\. Try again/,
      );
      const [left] = (await story.project()).flows;
      assert.deepEqual([left?.name, left?.type, left?.versions], ['Welcome', 'simple', 1]);
      await story.retry(id);
      await story.drive.settle();
      const again = await story.instance(id);
      assert.deepEqual([again.status, again.templateVersionId], ['active', second]);
      assert.deepEqual(
        (await story.project()).flows.map(({ name }) => name),
        ['Greeting', 'Bye'],
      );
    });

    it('restores what somebody had activated by hand where an upgrade is undone', async () => {
      const { story, id, flowId } = await provisioned();
      const { body } = await story.service.ok(
        createFlowVersion,
        { flowId: flowId('welcome') },
        { body: { flowSchema: 'ours' } },
      );
      await story.service.ok(activateFlowVersion, { versionId: String(body.id) });
      const second = await story.version(changed);
      await story.upgrade(id, second);
      deleteWhilePrepared(story, flowId('bye'));
      await story.drive.settle();
      assert.equal((await story.instance(id)).lastOperation?.outcome, 'undone');
      const welcome = (await story.project()).flows.find((flow) => flow.id === flowId('welcome'));
      assert.deepEqual([welcome?.schema, welcome?.type, welcome?.versions], ['ours', 'simple', 2]);
    });

    it('leaves an agent profile that became the default beside others', async () => {
      const { story, id, resources } = await provisioned();
      const path = { projectId: ids.customerProject };
      const body = (name: string, isDefault: boolean) => ({ ...profileInput({ name }), isDefault, flowIds: [] });
      await story.service.ok(createAgentProfile, path, { body: body('Ours', false) });
      const theirs = { agentProfileId: resources.agentProfileId ?? '' };
      await story.service.ok(replaceAgentProfile, theirs, { body: body('Desk', true) });
      await story.remove(id);
      await story.drive.settle();
      const { flows, profiles, stores } = await story.project();
      assert.deepEqual([flows, stores], [[], []]);
      assert.deepEqual(profiles.map(({ name }) => name).toSorted(), ['Desk', 'Ours']);
    });
  });

  it('tries again what does not succeed, ever later, then gives up and undoes it', async () => {
    const story = await InstanceStory.begun();
    const id = await story.create(await story.version(contents), { name: 'Weber' });
    let refused = 0;
    story.service.store.beforeAppend = async ({ stream }) => {
      if (!stream.startsWith('store-')) return null;
      refused += 1;
      return refused <= 8 ? { kind: 'unavailable', detail: 'the disk is full.', retryAfterSeconds: 1 } : null;
    };
    await story.drive.settle();
    const attempts = story.service.store.log.filter(({ type }) => type === 'InstanceAttemptFailed');
    assert.deepEqual(
      attempts.map(({ data }) => data.attempt),
      [1, 2, 3, 4, 5, 6, 7],
    );
    const pauses = attempts.map(({ data, metadata }) => Date.parse(String(data.retryAt)) - Date.parse(metadata.time));
    for (const [index, pause] of pauses.entries()) {
      const wanted = Math.min(250 * 2 ** index, 60_000);
      assert.ok(Math.abs(pause - wanted) < 200, `${pause} is not about ${wanted}`);
    }
    const { status, lastOperation } = await story.instance(id);
    assert.equal(status, 'failed');
    assert.match(lastOperation?.reason ?? '', /the disk is full\. \(tried 8 times\)$/);
    assert.deepEqual(await story.project(), { flows: [], profiles: [], stores: [] });
  });

  describe('where a flow is too large with its fields filled in', () => {
    const long = 'x'.repeat(400_000);
    const greeting = payloadFlow({ flowSchema: '{{fields.name}}{{fields.name}}{{fields.name}}' });
    const growing = { ...contents, payload: payload({ flows: [greeting] }) };

    it('undoes an upgrade, and says that a retry does not help, but another upgrade to the same version', async () => {
      const { story, id, first } = await provisioned();
      const target = await story.version(growing);
      await story.upgrade(id, target, { newFieldValues: { name: long } });
      await story.drive.settle();
      const undone = await story.instance(id);
      assert.deepEqual([undone.templateVersionId, undone.lastOperation?.outcome], [first, 'undone']);
      const advice =
        /too large.*A retry comes to the same: upgrade again with shorter newFieldValues, or to a version that says less\.$/;
      assert.match(undone.lastOperation?.reason ?? '', advice);
      await story.retry(id);
      await story.drive.settle();
      const { reason, outcome } = (await story.instance(id)).lastOperation ?? {};
      assert.deepEqual([reason, outcome], [undone.lastOperation?.reason, 'undone']);
      await story.upgrade(id, target, { newFieldValues: { name: 'Weber' } });
      await story.drive.settle();
      const { status, templateVersionId } = await story.instance(id);
      assert.deepEqual([status, templateVersionId], ['active', target]);
    });

    it('fails a first provisioning, and says that a retry does not help, but a newer version or another instance', async () => {
      const story = await InstanceStory.begun();
      const first = await story.version(growing);
      const id = await story.create(first, { name: long });
      await story.drive.settle();
      const failed = await story.instance(id);
      assert.equal(failed.status, 'failed');
      const advice =
        /too large.*A retry comes to the same: upgrade to a newer version with shorter newFieldValues, or delete the instance and create it again with shorter fieldValues\.$/;
      assert.match(failed.lastOperation?.reason ?? '', advice);
      await story.retry(id);
      await story.drive.settle();
      assert.equal((await story.instance(id)).lastOperation?.reason, failed.lastOperation?.reason);
      await story.upgrade(id, await story.version(growing), { newFieldValues: { name: 'Weber' } });
      const another = await story.create(first, { name: 'Weber' });
      await story.drive.settle();
      for (const each of [id, another]) assert.equal((await story.instance(each)).status, 'active');
    });
  });

  it('goes on where the template could not be read for a while', async () => {
    const story = await InstanceStory.begun();
    const id = await story.create(await story.version(contents), { name: 'Weber' });
    const { store } = story.service;
    const read = store.read.bind(store);
    let left = 3;
    store.read = async (stream, ...rest) => {
      if (!stream.startsWith('template-') || left === 0) return read(stream, ...rest);
      left -= 1;
      throw new UnavailableError('the event store stands still.');
    };
    await story.drive.settle();
    assert.equal(left, 0);
    assert.equal((await story.instance(id)).status, 'active');
  });

  it('acts in the name of whoever asked', async () => {
    const { story } = await provisioned();
    const made = story.service.store.log.find(({ type }) => type === 'FlowCreated');
    const [request] = story.service.store.log.filter(({ type }) => type === 'InstanceCreated');
    assert.deepEqual(made?.metadata.actor, request?.metadata.actor);
    assert.equal(made?.metadata.$causationId, request?.id);
    assert.deepEqual(
      [made?.metadata.organizationId, made?.metadata.projectId, made?.metadata.partnerId],
      [ids.customer, ids.customerProject, ids.partner],
    );
  });

  it('comes to the same wherever it ends and begins again', async function () {
    this.timeout(180_000);
    let id = '';
    const told = async () => {
      const story = await provisioned();
      await story.story.upgrade(story.id, story.second);
      id = story.id;
      return story.story.service;
    };
    const outcome = async (service: Service) => {
      const story = new InstanceStory(service);
      const { status, lastOperation } = await story.instance(id);
      const { flows, profiles, stores } = await story.project();
      const shown = flows.map(({ name, type, schema, versions }) => [name, type, schema, versions]);
      return [status, lastOperation?.outcome, shown, profiles.length, stores.length];
    };
    await endedEverywhere(provisionInstances(), told, outcome, assert.deepEqual);
  });
});
