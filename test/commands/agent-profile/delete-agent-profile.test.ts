import { deleteAgentProfile } from '#commands/agent-profile/delete-agent-profile.ts';
import { defaultMoved, profileCreated, profileDeleted } from '#test/support/agent-profile-events.ts';
import { given } from '#test/support/given.ts';
import { inputOf } from '#test/support/input-of.ts';
import { ids } from '#test/support/story.ts';

const input = { agentProfileId: ids.profile };
const other = profileCreated({ id: ids.otherProfile });

describe('delete_agent_profile', () => {
  it('deletes one that is not the default', () => {
    given(profileCreated()).when(deleteAgentProfile, input).then(profileDeleted());
    given(profileCreated(), other, defaultMoved(ids.otherProfile, null))
      .when(deleteAgentProfile, input)
      .then(profileDeleted());
  });

  it('refuses the default while there are others', () => {
    given(profileCreated(), other, defaultMoved(ids.profile, null))
      .when(deleteAgentProfile, input)
      .then('default-agent-profile-required');
  });

  it('deletes the default when it is the only one, others deleted before do not count', () => {
    given(profileCreated(), defaultMoved(ids.profile, null)).when(deleteAgentProfile, input).then(profileDeleted());
    given(profileCreated(), other, defaultMoved(ids.profile, null), profileDeleted(ids.otherProfile))
      .when(deleteAgentProfile, input)
      .then(profileDeleted());
  });

  it('deletes what was the default before it moved', () => {
    given(profileCreated(), other, defaultMoved(ids.profile, null), defaultMoved(ids.otherProfile, ids.profile))
      .when(deleteAgentProfile, input)
      .then(profileDeleted());
  });

  describe('input', () => {
    inputOf(deleteAgentProfile, input).id('agentProfileId');
  });
});
