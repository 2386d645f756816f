import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { agentProfileRecord, checkRequestedFlows, projectAgentProfiles } from '#domain/agent-profile/agent-profile.ts';
import { AgentProfileRecord, agentProfileContents, exampleContents } from '#domain/agent-profile/record.ts';
import { cuid } from '#domain/codecs/id.ts';
import { project } from '#domain/project/project.ts';
import { childId } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import { loadRequestedFlows } from './shared/requested-flows.ts';

export const createAgentProfile = command({
  about: {
    name: 'create_agent_profile',
    summary: 'Create an agent profile',
    description: 'A project has at most one default profile. isDefault=true makes this profile the default.',
    group: 'Agent profiles',
    example: { input: exampleContents, output: AgentProfileRecord.example },
  },
  http: post('/v1/projects/:projectId/agent-profiles', 201),
  access: { scope: 'agent-profiles:write', subject: { entity: project, parameter: 'projectId' } },
  input: t.type({ projectId: cuid, ...agentProfileContents }),
  output: AgentProfileRecord,
  failures: ['project-not-found', 'flow-not-found'],
  entity: projectAgentProfiles,
  loadRelated: ({ flowIds }, { load }) => loadRequestedFlows(flowIds, load),
  creates: {
    id: ({ projectId }, { suffix }) => childId(projectId, suffix),
    isIdUsed: ({ profiles }, { projectId }, { suffix }) => profiles.has(childId(projectId, suffix)),
  },
  decide: (input, { defaultId: previousId }, { related: flows, newIds: { suffix } }) => {
    const { projectId, name, isDefault, supportedInputLanguages, reasoningMode, outputVoiceId } = input;
    const refusal = checkRequestedFlows(flows, projectId);
    if (refusal !== null) return E.left(refusal);
    const id = childId(projectId, suffix);
    const contents = { id, projectId, name, supportedInputLanguages, reasoningMode, outputVoiceId };
    return E.right([
      newEvent('AgentProfileCreated', { ...contents, flowIds: [...new Set(input.flowIds)] }),
      ...(isDefault ? [newEvent('AgentProfileDefaultMoved', { id, previousId })] : []),
    ]);
  },
  answer: ({ input, state, newIds, dataAt }) =>
    agentProfileRecord(state, childId(input.projectId, newIds.suffix), dataAt),
});
