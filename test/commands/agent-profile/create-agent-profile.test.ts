import { createAgentProfile } from '#commands/agent-profile/create-agent-profile.ts';
import { flow } from '#domain/flow/flow.ts';
import { defaultMoved, profileCreated, profileDeleted } from '#test/support/events/agent-profile-events.ts';
import { begunFlow } from '#test/support/events/flow-events.ts';
import { ids, newIds } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';
import { stateOf } from '#test/support/harness/recorded-events.ts';
import { profileInput } from '#test/support/inputs/profile-input.ts';
import { foreignFlows, testContents } from './profile-contents.ts';

const id = ids.project + newIds.suffix;
const input = profileInput({ projectId: ids.project });
const noFlows = { related: [] };
const ofProject = { id: ids.flow, state: stateOf(flow, ...begunFlow()) };

describe('create_agent_profile', () => {
  it('creates an agent profile that is not the default, even in a project without a default', () => {
    givenHistory().when(createAgentProfile, input, noFlows).then(profileCreated({ id }));
  });

  it('creates the first default agent profile of a project', () => {
    givenHistory()
      .when(createAgentProfile, { ...input, isDefault: true }, noFlows)
      .then(profileCreated({ id }), defaultMoved(id, null));
  });

  it('moves the default from another agent profile to the new one', () => {
    givenHistory(profileCreated(), defaultMoved(ids.profile, null))
      .when(createAgentProfile, { ...input, isDefault: true }, noFlows)
      .then(profileCreated({ id }), defaultMoved(id, ids.profile));
  });

  it('names no deleted agent profile as the replaced default', () => {
    givenHistory(profileCreated(), defaultMoved(ids.profile, null), profileDeleted())
      .when(createAgentProfile, { ...input, isDefault: true }, noFlows)
      .then(profileCreated({ id }), defaultMoved(id, null));
  });

  it('requests each flow of the project once, however often it is listed', () => {
    givenHistory()
      .when(createAgentProfile, { ...input, flowIds: [ids.flow, ids.flow] }, { related: [ofProject] })
      .then(profileCreated({ id, flowIds: [ids.flow] }));
  });

  for (const [what, state] of foreignFlows) {
    it(`refuses an agent profile with a flow that is ${what}, even beside a valid flow`, () => {
      givenHistory()
        .when(
          createAgentProfile,
          { ...input, flowIds: [ids.flow, ids.otherFlow] },
          { related: [ofProject, { id: ids.otherFlow, state }] },
        )
        .then('flow-not-found');
    });
  }

  describe('input of create_agent_profile', () => {
    const of = inputOf(createAgentProfile, input);
    of.id('projectId');
    testContents(of);
  });
});
