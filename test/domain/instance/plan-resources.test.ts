import assert from 'node:assert/strict';
import { isCuid } from '#domain/codecs/id.ts';
import { type Planning, planResources } from '#domain/instance/plan-resources.ts';
import type { Resources } from '#domain/instance/resources.ts';
import type { TemplatePayload } from '#domain/template/payload.ts';
import { templateContents } from '#test/support/events/instance-events.ts';
import { ids } from '#test/support/events/tenants.ts';

const payload: TemplatePayload = templateContents.payload as TemplatePayload;
const planning: Planning = {
  instanceId: ids.instance,
  projectId: ids.project,
  operation: 1,
  had: null,
  isThere: () => true,
};
const plan = (change: Partial<Planning> = {}, what = payload) => planResources(what, { ...planning, ...change });
const allIds = ({ flows, agentProfile, stores }: Resources) => [
  ...flows.flatMap(({ id, versionId }) => [id, versionId]),
  ...(agentProfile === null ? [] : [agentProfile.id]),
  ...stores.map(({ id }) => id),
];

describe('planResources', () => {
  it('plans resources with the payload’s names, types and descriptions', () => {
    const { flows, agentProfile, stores } = plan();
    assert.deepEqual(
      flows.map(({ key, name, type }) => [key, name, type]),
      [
        ['welcome', 'Welcome', 'simple'],
        ['bye', 'Bye', 'graph'],
      ],
    );
    const { id: _, ...profile } = agentProfile ?? {};
    assert.deepEqual(profile, {
      name: 'Desk',
      supportedInputLanguages: ['en'],
      reasoningMode: 'fast',
      outputVoiceId: '',
    });
    assert.deepEqual(
      stores.map(({ key, name, description }) => [key, name, description]),
      [['faq', 'Questions', null]],
    );
  });

  it('derives ids from instance and operation, which never change between releases', () => {
    assert.deepEqual(plan(), plan());
    assert.equal(plan().flows[0]?.id, 'c0nco5rm8exj5sjtbbd8p5jb');
    assert.equal(plan().flows[0]?.versionId, 'c0nco5rm8exj5sjtbbd8p5jbo1dza7rf');
    assert.equal(plan().agentProfile?.id, 'cprojectone00001azcnvwbt');
    assert.equal(plan().stores[0]?.id, 'c1tlgkfjkgppe4sptecqjzng');
    for (const id of allIds(plan())) assert.ok(isCuid(id), id);
    const others = [plan({ operation: 2 }), plan({ instanceId: 'canotherinstance' })];
    const all = [plan(), ...others].flatMap(allIds);
    assert.equal(new Set(all).size, all.length);
  });

  it('keeps the ids of existing resources with the same key, and gives each flow a new version', () => {
    const had = plan();
    const again = plan({ operation: 2, had });
    const without = (resources: Resources) => ({
      ...resources,
      flows: resources.flows.map(({ versionId: _, ...flow }) => flow),
    });
    assert.deepEqual(without(again), without(had));
    for (const [index, { id, versionId }] of again.flows.entries()) {
      assert.equal(versionId.slice(0, -8), id);
      assert.notEqual(versionId, had.flows[index]?.versionId);
    }
  });

  it('plans new ids for resources that no longer exist', () => {
    const had = plan();
    const gone = new Set([had.flows[0]?.id, had.agentProfile?.id, had.stores[0]?.id]);
    const again = plan({ operation: 2, had, isThere: (id) => !gone.has(id) });
    assert.deepEqual(again.flows[1]?.id, had.flows[1]?.id);
    for (const id of allIds(again)) assert.ok(!gone.has(id));
  });

  it('distinguishes resource keys of any text', () => {
    const flow = (key: string) => ({ key, name: key, flowType: 'simple' as const, flowSchema: 1 });
    const keys = ['a', 'a\n', '__proto__', '"', 'constructor'];
    const planned = plan({}, { flows: keys.map(flow) });
    assert.equal(new Set(planned.flows.map(({ id }) => id)).size, keys.length);
    assert.equal(planned.agentProfile, null);
    assert.deepEqual(planned.stores, []);
  });
});
