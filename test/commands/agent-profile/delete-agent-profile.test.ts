import { deleteAgentProfile } from '#commands/agent-profile/delete-agent-profile.ts';
import { defaultMoved, profileCreated, profileDeleted } from '#test/support/events/agent-profile-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { agentProfileId: ids.profile };
const other = profileCreated({ id: ids.otherProfile });

describe('delete_agent_profile', () => {
  it('deletes an agent profile that is not the default', () => {
    givenHistory(profileCreated()).when(deleteAgentProfile, input).then(profileDeleted());
    givenHistory(profileCreated(), other, defaultMoved(ids.otherProfile, null))
      .when(deleteAgentProfile, input)
      .then(profileDeleted());
  });

  it('refuses to delete the default agent profile while the project has others', () => {
    givenHistory(profileCreated(), other, defaultMoved(ids.profile, null))
      .when(deleteAgentProfile, input)
      .then('default-agent-profile-required');
  });

  it('deletes the default agent profile when all others have been deleted', () => {
    givenHistory(profileCreated(), defaultMoved(ids.profile, null))
      .when(deleteAgentProfile, input)
      .then(profileDeleted());
    givenHistory(profileCreated(), other, defaultMoved(ids.profile, null), profileDeleted(ids.otherProfile))
      .when(deleteAgentProfile, input)
      .then(profileDeleted());
  });

  it('deletes an agent profile that was the default before another became it', () => {
    givenHistory(profileCreated(), other, defaultMoved(ids.profile, null), defaultMoved(ids.otherProfile, ids.profile))
      .when(deleteAgentProfile, input)
      .then(profileDeleted());
  });

  describe('input of delete_agent_profile', () => {
    inputOf(deleteAgentProfile, input).id('agentProfileId');
  });
});
