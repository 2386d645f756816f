import { deleteAgentProfile } from '#commands/agent-profile/delete-agent-profile.ts';
import { defaultMoved, profileCreated, profileDeleted } from '#test/support/events/agent-profile-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { agentProfileId: ids.profile };
const other = profileCreated({ id: ids.otherProfile });

describe('delete_agent_profile', () => {
  it('deletes one that is not the default', () => {
    givenHistory(profileCreated()).when(deleteAgentProfile, input).then(profileDeleted());
    givenHistory(profileCreated(), other, defaultMoved(ids.otherProfile, null))
      .when(deleteAgentProfile, input)
      .then(profileDeleted());
  });

  it('refuses the default while there are others', () => {
    givenHistory(profileCreated(), other, defaultMoved(ids.profile, null))
      .when(deleteAgentProfile, input)
      .then('default-agent-profile-required');
  });

  it('deletes the default when it is the only one, others deleted before do not count', () => {
    givenHistory(profileCreated(), defaultMoved(ids.profile, null))
      .when(deleteAgentProfile, input)
      .then(profileDeleted());
    givenHistory(profileCreated(), other, defaultMoved(ids.profile, null), profileDeleted(ids.otherProfile))
      .when(deleteAgentProfile, input)
      .then(profileDeleted());
  });

  it('deletes what was the default before it moved', () => {
    givenHistory(profileCreated(), other, defaultMoved(ids.profile, null), defaultMoved(ids.otherProfile, ids.profile))
      .when(deleteAgentProfile, input)
      .then(profileDeleted());
  });

  describe('input', () => {
    inputOf(deleteAgentProfile, input).id('agentProfileId');
  });
});
