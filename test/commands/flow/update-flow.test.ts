import { updateFlow } from '#commands/flow/update-flow.ts';
import { projectAgentProfiles } from '#domain/agent-profile/agent-profile.ts';
import { newEvent } from '#domain/shared/event.ts';
import { profileCreated, profileDeleted } from '#test/support/events/agent-profile-events.ts';
import { begunFlow, profileAssigned } from '#test/support/events/flow-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';
import { stateOf } from '#test/support/harness/recorded-events.ts';

const id = ids.flow;
const profiles = stateOf(projectAgentProfiles, profileCreated(), profileCreated({ id: ids.otherProfile }));

describe('update_flow', () => {
  it('renames a flow', () => {
    givenHistory(...begunFlow())
      .when(updateFlow, { flowId: id, name: 'Nights' })
      .then(newEvent('FlowRenamed', { id, name: 'Nights' }));
  });

  it('changes a flow’s description, and clears it with null or an empty text', () => {
    for (const description of ['At night', null, '']) {
      givenHistory(...begunFlow())
        .when(updateFlow, { flowId: id, description })
        .then(newEvent('FlowDescribed', { id, description }));
    }
  });

  it('replaces a flow’s agent profile, and removes it with null', () => {
    givenHistory(...begunFlow({ agentProfileId: ids.profile }))
      .when(updateFlow, { flowId: id, agentProfileId: ids.otherProfile }, { related: profiles })
      .then(profileAssigned(ids.otherProfile, ids.profile));
    givenHistory(...begunFlow({ agentProfileId: ids.profile }))
      .when(updateFlow, { flowId: id, agentProfileId: null })
      .then(profileAssigned(null, ids.profile));
  });

  it('changes several members of a flow with one command', () => {
    givenHistory(...begunFlow())
      .when(
        updateFlow,
        { flowId: id, name: 'Nights', description: null, agentProfileId: ids.profile },
        { related: profiles },
      )
      .then(
        newEvent('FlowRenamed', { id, name: 'Nights' }),
        newEvent('FlowDescribed', { id, description: null }),
        profileAssigned(ids.profile, null),
      );
  });

  it('changes nothing for an empty body or for equal values', () => {
    const same = { name: 'Opening hours', description: 'Answers when the desk is closed', agentProfileId: ids.profile };
    const flow = begunFlow({ agentProfileId: ids.profile });
    givenHistory(...flow)
      .when(updateFlow, { flowId: id })
      .then();
    givenHistory(...flow)
      .when(updateFlow, { flowId: id, ...same }, { related: profiles })
      .then();
  });

  it('compares an update of a flow with the values of earlier updates', () => {
    givenHistory(...begunFlow(), newEvent('FlowRenamed', { id, name: 'Nights' }))
      .when(updateFlow, { flowId: id, name: 'Nights' })
      .then();
    givenHistory(...begunFlow(), newEvent('FlowDescribed', { id, description: null }))
      .when(updateFlow, { flowId: id, description: null })
      .then();
  });

  const siblings = profileCreated({ id: ids.siblingProfile, projectId: ids.sibling });
  const invalid = [
    ['unknown', ids.profile, projectAgentProfiles.initial],
    ['deleted', ids.profile, stateOf(projectAgentProfiles, profileCreated(), profileDeleted())],
    ["another project's", ids.siblingProfile, stateOf(projectAgentProfiles, siblings)],
  ] as const;
  for (const [what, agentProfileId, related] of invalid) {
    it(`refuses an update with an agent profile that is ${what}, and changes nothing else`, () => {
      givenHistory(...begunFlow())
        .when(updateFlow, { flowId: id, name: 'Nights', agentProfileId }, { related })
        .then('agent-profile-not-found');
    });
  }

  describe('input of update_flow', () => {
    const of = inputOf(updateFlow, { flowId: id });
    of.id('flowId');
    of.text('name', { min: 1, max: 200 });
    of.optional('name', undefined);
    of.text('description', { min: 0, max: 5000, orNull: true });
    of.optional('description', undefined);
    of.id('agentProfileId', { orNull: true });
    of.optional('agentProfileId', undefined);
    of.ignoresUnknown();
  });
});
