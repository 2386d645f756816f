import { createFlow } from '#commands/flow/create-flow.ts';
import { projectAgentProfiles } from '#domain/agent-profile/agent-profile.ts';
import { newEvent } from '#domain/shared/event.ts';
import { profileCreated, profileDeleted } from '#test/support/events/agent-profile-events.ts';
import { ids, newIds } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';
import { stateOf } from '#test/support/harness/recorded-events.ts';

const flowSchema = { start: 'greet', nodes: {} };
const input = { projectId: ids.project, name: 'Opening hours', flowSchema };

/** The three events of a new flow. */
function created(change: { type?: 'graph'; description?: string; agentProfileId?: string } = {}) {
  const id = newIds.id;
  const versionId = id + newIds.suffix;
  return [
    newEvent('FlowCreated', {
      id,
      projectId: ids.project,
      name: 'Opening hours',
      type: 'simple' as const,
      description: null,
      tier: 'standard' as const,
      agentProfileId: null,
      ...change,
    }),
    newEvent('FlowVersionCreated', { id: versionId, flowId: id, version: 1, tag: 'v1', flowSchema }),
    newEvent('FlowVersionActivated', { id: versionId, flowId: id, replacedVersionId: null }),
  ];
}

describe('create_flow', () => {
  it('creates a simple flow of the standard tier with an active version 1 tagged v1', () => {
    givenHistory()
      .when(createFlow, input)
      .then(...created());
  });

  it('creates a flow with the given type and description', () => {
    const more = { type: 'graph', description: 'At night' } as const;
    givenHistory()
      .when(createFlow, { ...input, ...more })
      .then(...created(more));
  });

  it('treats a null description and a null agent profile as none', () => {
    givenHistory()
      .when(createFlow, { ...input, description: null, agentProfileId: null })
      .then(...created());
  });

  it('assigns an agent profile of the same project', () => {
    const related = stateOf(projectAgentProfiles, profileCreated());
    givenHistory()
      .when(createFlow, { ...input, agentProfileId: ids.profile }, { related })
      .then(...created({ agentProfileId: ids.profile }));
  });

  const siblings = profileCreated({ id: ids.siblingProfile, projectId: ids.sibling });
  const invalid = [
    ['unknown', ids.profile, projectAgentProfiles.initial],
    ['deleted', ids.profile, stateOf(projectAgentProfiles, profileCreated(), profileDeleted())],
    ["another project's", ids.siblingProfile, stateOf(projectAgentProfiles, siblings)],
  ] as const;
  for (const [what, agentProfileId, related] of invalid) {
    it(`refuses a flow with an agent profile that is ${what}`, () => {
      givenHistory()
        .when(createFlow, { ...input, agentProfileId }, { related })
        .then('agent-profile-not-found');
    });
  }

  describe('input of create_flow', () => {
    const of = inputOf(createFlow, input);
    of.id('projectId');
    of.text('name', { min: 1, max: 200 });
    of.required('name');
    of.required('flowSchema');
    of.anyJson('flowSchema');
    of.text('description', { min: 0, max: 5000, orNull: true });
    of.optional('description', undefined);
    of.choice('type', ['simple', 'graph']);
    of.optional('type', 'simple');
    of.id('agentProfileId', { orNull: true });
    of.optional('agentProfileId', undefined);
    of.ignoresUnknown();
  });
});
