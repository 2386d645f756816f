import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { remove } from '#application/operations/operation.ts';
import { agentProfileRecord, projectAgentProfiles } from '#domain/agent-profile/agent-profile.ts';
import { AgentProfileRecord } from '#domain/agent-profile/record.ts';
import { cuid } from '#domain/codecs/id.ts';
import { newEvent } from '#domain/shared/event.ts';
import { failure } from '#domain/shared/failure.ts';

export const deleteAgentProfile = command({
  about: {
    name: 'delete_agent_profile',
    summary: 'Delete an agent profile',
    description: 'Its flows then have no profile. The default profile can only be deleted as the last one.',
    group: 'Agent profiles',
    example: { output: AgentProfileRecord.example },
  },
  http: remove('/v1/agent-profiles/:agentProfileId'),
  access: { scope: 'agent-profiles:write', subject: { entity: projectAgentProfiles, parameter: 'agentProfileId' } },
  input: t.type({ agentProfileId: cuid }),
  output: AgentProfileRecord,
  failures: ['agent-profile-not-found', 'default-agent-profile-required'],
  entity: projectAgentProfiles,
  decide: ({ agentProfileId: id }, state) => {
    if (state.defaultId === id && state.liveCount > 1) {
      return E.left(
        failure('default-agent-profile-required', 'This is the default profile. Make another one the default first.'),
      );
    }
    return E.right([newEvent('AgentProfileDeleted', { id })]);
  },
  answer: ({ input, state, dataAt }) => agentProfileRecord(state, input.agentProfileId, dataAt),
});
