import { replaceAgentProfile } from '#commands/agent-profile/replace-agent-profile.ts';
import { flow } from '#domain/flow/flow.ts';
import {
  defaultMoved,
  profileCreated,
  profileDeleted,
  profileReplaced,
} from '#test/support/events/agent-profile-events.ts';
import { begunFlow, flowDeleted } from '#test/support/events/flow-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';
import { stateOf } from '#test/support/harness/recorded-events.ts';
import { profileInput } from '#test/support/inputs/profile-input.ts';

const input = profileInput({ agentProfileId: ids.profile });
const noFlows = { also: [] };
const ofProject = { id: ids.flow, state: stateOf(flow, ...begunFlow()) };
const other = profileCreated({ id: ids.otherProfile });

describe('replace_agent_profile', () => {
  it('replaces the contents', () => {
    givenHistory(profileCreated())
      .when(replaceAgentProfile, { ...input, name: 'Night desk', supportedInputLanguages: [] }, noFlows)
      .then(profileReplaced({ name: 'Night desk', supportedInputLanguages: [] }));
  });

  it('asks for flows of its project, each once', () => {
    givenHistory(profileCreated())
      .when(replaceAgentProfile, { ...input, flowIds: [ids.flow, ids.flow] }, { also: [ofProject] })
      .then(profileReplaced({ flowIds: [ids.flow] }));
  });

  it('asks again for what was asked before: the flows may have been assigned elsewhere since', () => {
    givenHistory(profileCreated({ flowIds: [ids.flow] }))
      .when(replaceAgentProfile, { ...input, flowIds: [ids.flow] }, { also: [ofProject] })
      .then(profileReplaced({ flowIds: [ids.flow] }));
  });

  it('makes it the default, the first or in the place of another', () => {
    givenHistory(profileCreated(), other)
      .when(replaceAgentProfile, { ...input, isDefault: true }, noFlows)
      .then(profileReplaced(), defaultMoved(ids.profile, null));
    givenHistory(profileCreated(), other, defaultMoved(ids.otherProfile, null))
      .when(replaceAgentProfile, { ...input, isDefault: true }, noFlows)
      .then(profileReplaced(), defaultMoved(ids.profile, ids.otherProfile));
  });

  it('moves no default that is there already', () => {
    givenHistory(profileCreated(), defaultMoved(ids.profile, null))
      .when(replaceAgentProfile, { ...input, isDefault: true }, noFlows)
      .then(profileReplaced());
  });

  it('refuses to make the default none', () => {
    givenHistory(profileCreated(), defaultMoved(ids.profile, null))
      .when(replaceAgentProfile, input, noFlows)
      .then('default-agent-profile-required');
  });

  it('lets a profile that was the default be none', () => {
    givenHistory(profileCreated(), other, defaultMoved(ids.profile, null), defaultMoved(ids.otherProfile, ids.profile))
      .when(replaceAgentProfile, input, noFlows)
      .then(profileReplaced());
  });

  it('takes no default from a deleted profile', () => {
    givenHistory(other, defaultMoved(ids.otherProfile, null), profileDeleted(ids.otherProfile), profileCreated())
      .when(replaceAgentProfile, { ...input, isDefault: true }, noFlows)
      .then(profileReplaced(), defaultMoved(ids.profile, null));
  });

  const strange = [
    ['unknown', null],
    ['deleted', stateOf(flow, ...begunFlow(), flowDeleted())],
    ["another project's", stateOf(flow, ...begunFlow({ projectId: ids.sibling }))],
  ] as const;
  for (const [what, state] of strange) {
    it(`refuses a flow that is ${what}`, () => {
      givenHistory(profileCreated())
        .when(replaceAgentProfile, { ...input, flowIds: [ids.flow] }, { also: [{ id: ids.flow, state }] })
        .then('flow-not-found');
    });
  }

  describe('input', () => {
    const of = inputOf(replaceAgentProfile, input);
    of.id('agentProfileId');
    for (const member of ['name', 'reasoningMode', 'outputVoiceId']) {
      of.required(member);
      of.anyText(member);
    }
    for (const member of ['flowIds', 'supportedInputLanguages']) {
      of.required(member);
      for (const value of [[], ['a'], ['a', 'a']]) of.accepts(member, value);
      for (const value of [null, 'a', {}, [1], [null]]) of.refuses(member, value);
    }
    of.required('isDefault');
    of.boolean('isDefault');
    of.ignoresUnknown();
  });
});
