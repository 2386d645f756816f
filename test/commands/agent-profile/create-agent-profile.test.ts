import { createAgentProfile } from '#commands/agent-profile/create-agent-profile.ts';
import { flow } from '#domain/flow/flow.ts';
import { defaultMoved, profileCreated, profileDeleted } from '#test/support/events/agent-profile-events.ts';
import { begunFlow, flowDeleted } from '#test/support/events/flow-events.ts';
import { fresh, ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';
import { stateOf } from '#test/support/harness/recorded-events.ts';
import { profileInput } from '#test/support/inputs/profile-input.ts';

const id = ids.project + fresh.suffix;
const input = profileInput({ projectId: ids.project });
const noFlows = { also: [] };
const ofProject = { id: ids.flow, state: stateOf(flow, ...begunFlow()) };

describe('create_agent_profile', () => {
  it('creates one that is not the default, also where there is none', () => {
    givenHistory().when(createAgentProfile, input, noFlows).then(profileCreated({ id }));
  });

  it('makes it the first default', () => {
    givenHistory()
      .when(createAgentProfile, { ...input, isDefault: true }, noFlows)
      .then(profileCreated({ id }), defaultMoved(id, null));
  });

  it('moves the default to it', () => {
    givenHistory(profileCreated(), defaultMoved(ids.profile, null))
      .when(createAgentProfile, { ...input, isDefault: true }, noFlows)
      .then(profileCreated({ id }), defaultMoved(id, ids.profile));
  });

  it('takes no default from a deleted profile', () => {
    givenHistory(profileCreated(), defaultMoved(ids.profile, null), profileDeleted())
      .when(createAgentProfile, { ...input, isDefault: true }, noFlows)
      .then(profileCreated({ id }), defaultMoved(id, null));
  });

  it('asks for flows of its project, each once', () => {
    givenHistory()
      .when(createAgentProfile, { ...input, flowIds: [ids.flow, ids.flow] }, { also: [ofProject] })
      .then(profileCreated({ id, flowIds: [ids.flow] }));
  });

  const strange = [
    ['unknown', null],
    ['deleted', stateOf(flow, ...begunFlow(), flowDeleted())],
    ["another project's", stateOf(flow, ...begunFlow({ projectId: ids.sibling }))],
  ] as const;
  for (const [what, state] of strange) {
    it(`refuses a flow that is ${what}, beside one that is sound`, () => {
      givenHistory()
        .when(
          createAgentProfile,
          { ...input, flowIds: [ids.flow, ids.otherFlow] },
          { also: [ofProject, { id: ids.otherFlow, state }] },
        )
        .then('flow-not-found');
    });
  }

  describe('input', () => {
    const of = inputOf(createAgentProfile, input);
    of.id('projectId');
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
