import assert from 'node:assert/strict';
import { InstanceStory } from '#test/support/instance-story.ts';
import { ids } from '#test/support/story.ts';
import { field, payload, payloadFlow } from '#test/support/template-payload.ts';

const contents = {
  payload: payload({
    flows: [
      payloadFlow({ flowSchema: { say: 'Hello {{fields.name}}', limit: '{{fields.limit}}' } }),
      payloadFlow({ key: 'bye', name: 'Bye', flowType: 'graph', flowSchema: ['bye'] }),
    ],
  }),
  fieldsSchema: [field(), field({ key: 'limit', type: 'number', required: false, defaultValue: '10' })],
};

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
});
