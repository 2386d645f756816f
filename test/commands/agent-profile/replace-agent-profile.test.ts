import { replaceAgentProfile } from '#commands/agent-profile/replace-agent-profile.ts';
import { flow } from '#domain/flow/flow.ts';
import {
  defaultMoved,
  profileCreated,
  profileDeleted,
  profileReplaced,
} from '#test/support/events/agent-profile-events.ts';
import { begunFlow } from '#test/support/events/flow-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';
import { stateOf } from '#test/support/harness/recorded-events.ts';
import { profileInput } from '#test/support/inputs/profile-input.ts';
import { foreignFlows, testContents } from './profile-contents.ts';

const input = profileInput({ agentProfileId: ids.profile });
const noFlows = { related: [] };
const ofProject = { id: ids.flow, state: stateOf(flow, ...begunFlow()) };
const other = profileCreated({ id: ids.otherProfile });

describe('replace_agent_profile', () => {
  it('replaces the contents of an agent profile', () => {
    givenHistory(profileCreated())
      .when(replaceAgentProfile, { ...input, name: 'Night desk', supportedInputLanguages: [] }, noFlows)
      .then(profileReplaced({ name: 'Night desk', supportedInputLanguages: [] }));
  });

  it('requests each flow of the project once, however often it is listed', () => {
    givenHistory(profileCreated())
      .when(replaceAgentProfile, { ...input, flowIds: [ids.flow, ids.flow] }, { related: [ofProject] })
      .then(profileReplaced({ flowIds: [ids.flow] }));
  });

  it('requests the same flows again, because they may have been assigned elsewhere since', () => {
    givenHistory(profileCreated({ flowIds: [ids.flow] }))
      .when(replaceAgentProfile, { ...input, flowIds: [ids.flow] }, { related: [ofProject] })
      .then(profileReplaced({ flowIds: [ids.flow] }));
  });

  it('makes a profile the default, as the first or in place of another', () => {
    givenHistory(profileCreated(), other)
      .when(replaceAgentProfile, { ...input, isDefault: true }, noFlows)
      .then(profileReplaced(), defaultMoved(ids.profile, null));
    givenHistory(profileCreated(), other, defaultMoved(ids.otherProfile, null))
      .when(replaceAgentProfile, { ...input, isDefault: true }, noFlows)
      .then(profileReplaced(), defaultMoved(ids.profile, ids.otherProfile));
  });

  it('does not move the default when the replaced profile is the default already', () => {
    givenHistory(profileCreated(), defaultMoved(ids.profile, null))
      .when(replaceAgentProfile, { ...input, isDefault: true }, noFlows)
      .then(profileReplaced());
  });

  it('refuses to leave a project without a default agent profile', () => {
    givenHistory(profileCreated(), defaultMoved(ids.profile, null))
      .when(replaceAgentProfile, input, noFlows)
      .then('default-agent-profile-required');
  });

  it('replaces a former default profile without making it the default', () => {
    givenHistory(profileCreated(), other, defaultMoved(ids.profile, null), defaultMoved(ids.otherProfile, ids.profile))
      .when(replaceAgentProfile, input, noFlows)
      .then(profileReplaced());
  });

  it('names no deleted agent profile as the replaced default', () => {
    givenHistory(other, defaultMoved(ids.otherProfile, null), profileDeleted(ids.otherProfile), profileCreated())
      .when(replaceAgentProfile, { ...input, isDefault: true }, noFlows)
      .then(profileReplaced(), defaultMoved(ids.profile, null));
  });

  for (const [what, state] of foreignFlows) {
    it(`refuses to replace an agent profile with a flow that is ${what}`, () => {
      givenHistory(profileCreated())
        .when(replaceAgentProfile, { ...input, flowIds: [ids.flow] }, { related: [{ id: ids.flow, state }] })
        .then('flow-not-found');
    });
  }

  describe('input of replace_agent_profile', () => {
    const of = inputOf(replaceAgentProfile, input);
    of.id('agentProfileId');
    testContents(of);
  });
});
