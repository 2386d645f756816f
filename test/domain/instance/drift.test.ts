import assert from 'node:assert/strict';
import { driftedFlows, holdSame, type SeenResources } from '#domain/instance/drift.ts';
import type { Resources } from '#domain/instance/resources.ts';
import { targetOf } from '#test/support/events/instance-events.ts';

const { resources } = targetOf(1);
const [welcome, bye] = resources.flows.map(({ id }) => id);

/** The resources as they were provisioned, except for one flow and the profile. */
function seen(change: object | null = {}, profile: object | null = {}, of: Resources = resources): SeenResources {
  const now = of.agentProfile && profile && { ...of.agentProfile, ...profile };
  return {
    flow: (id) => {
      const flow = of.flows.find((each) => each.id === id);
      if (flow === undefined || (id === welcome && change === null)) return null;
      const asMade = { name: flow.name, activeVersionId: flow.versionId, agentProfileId: of.agentProfile?.id ?? null };
      const { name, ...rest } = id === welcome ? { ...asMade, ...change } : asMade;
      return { ...rest, isNamed: (wanted) => wanted === name };
    },
    agentProfile: now && { holds: (contents) => holdSame(contents, now) },
  };
}

describe('driftedFlows', () => {
  it('finds no drift when all resources are as provisioned, even if others were added', () => {
    assert.deepEqual(driftedFlows(resources, seen()), []);
    const bare = { ...resources, agentProfile: null };
    assert.deepEqual(driftedFlows(bare, seen({ agentProfileId: 'theirs' }, {}, bare)), []);
  });

  const changes = {
    'was deleted': null,
    'was renamed': { name: 'Ours' },
    'has another version active': { activeVersionId: 'other' },
    'has another agent profile': { agentProfileId: 'other' },
    'has no agent profile': { agentProfileId: null },
  };
  for (const [what, change] of Object.entries(changes)) {
    it(`finds drift in a flow that ${what}`, () => {
      assert.deepEqual(driftedFlows(resources, seen(change)), [welcome]);
    });
  }

  const profiles = {
    gone: null,
    renamed: { name: 'Ours' },
    'in another mode': { reasoningMode: 'turbo' },
    'of another voice': { outputVoiceId: 'other' },
    'of more languages': { supportedInputLanguages: ['en', 'fr'] },
    'of other languages': { supportedInputLanguages: ['fr'] },
  };
  for (const [what, change] of Object.entries(profiles)) {
    it(`finds drift in all flows when their agent profile is ${what}`, () => {
      assert.deepEqual(driftedFlows(resources, seen({}, change)), [welcome, bye]);
    });
  }

  it('ignores changes that a running operation has made, in part or completely', () => {
    const upgraded = targetOf(2, {}, targetOf(1)).resources;
    const named = { ...upgraded, agentProfile: upgraded.agentProfile && { ...upgraded.agentProfile, name: 'New' } };
    assert.deepEqual(driftedFlows(resources, seen({}, {}, named), named), []);
    const half = { activeVersionId: upgraded.flows[0]?.versionId };
    assert.deepEqual(driftedFlows(resources, seen(half), named), []);
    assert.deepEqual(driftedFlows(resources, seen(half)), [welcome]);
    assert.deepEqual(driftedFlows(resources, seen({ activeVersionId: 'other' }), named), [welcome]);
  });
});
