import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { put } from '#application/operations/operation.ts';
import { agentProfileRecord, checkRequestedFlows, projectAgentProfiles } from '#domain/agent-profile/agent-profile.ts';
import { AgentProfileRecord, agentProfileContents, exampleContents } from '#domain/agent-profile/record.ts';
import { cuid } from '#domain/codecs/id.ts';
import { parentId } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import { failure } from '#domain/shared/failure.ts';
import { loadRequestedFlows } from './shared/requested-flows.ts';

export const replaceAgentProfile = command({
  about: {
    name: 'replace_agent_profile',
    summary: 'Replace the contents of an agent profile',
    description: 'The listed flows are assigned to the profile. Its other flows are not assigned to it any more.',
    group: 'Agent profiles',
    example: { input: exampleContents, output: AgentProfileRecord.example },
  },
  http: put('/v1/agent-profiles/:agentProfileId'),
  access: { scope: 'agent-profiles:write', subject: { entity: projectAgentProfiles, parameter: 'agentProfileId' } },
  input: t.type({ agentProfileId: cuid, ...agentProfileContents }),
  output: AgentProfileRecord,
  failures: ['agent-profile-not-found', 'flow-not-found', 'default-agent-profile-required'],
  entity: projectAgentProfiles,
  loadRelated: ({ flowIds }, { load }) => loadRequestedFlows(flowIds, load),
  decide: (input, { defaultId: previousId }, { related: flows }) => {
    const { agentProfileId: id, name, isDefault, supportedInputLanguages, reasoningMode, outputVoiceId } = input;
    const projectId = parentId(id);
    const refusal = checkRequestedFlows(flows, projectId);
    if (refusal !== null) return E.left(refusal);
    if (!isDefault && previousId === id) {
      return E.left(
        failure('default-agent-profile-required', 'This is the default profile. Make another one the default instead.'),
      );
    }
    const contents = { id, projectId, name, supportedInputLanguages, reasoningMode, outputVoiceId };
    return E.right([
      newEvent('AgentProfileReplaced', { ...contents, flowIds: [...new Set(input.flowIds)] }),
      ...(isDefault && previousId !== id ? [newEvent('AgentProfileDefaultMoved', { id, previousId })] : []),
    ]);
  },
  answer: ({ input, state, dataAt }) => agentProfileRecord(state, input.agentProfileId, dataAt),
});
