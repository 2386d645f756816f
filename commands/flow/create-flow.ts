import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { checkAssignable, projectAgentProfiles } from '#domain/agent-profile/agent-profile.ts';
import { cuid } from '#domain/codecs/id.ts';
import { FlowType } from '#domain/flow/events.ts';
import { flow, flowRecord } from '#domain/flow/flow.ts';
import { FlowRecord, FlowVersionRecord } from '#domain/flow/record.ts';
import { project } from '#domain/project/project.ts';
import { childId } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { withDefault } from '#shared/codecs/default.ts';
import { json } from '#shared/codecs/json-value.ts';
import { text } from '#shared/codecs/text.ts';

export const createFlow = command({
  about: {
    name: 'create_flow',
    summary: 'Create a flow',
    description: 'This also creates the first version: number 1, tag v1, active.',
    group: 'Flows',
    example: {
      input: {
        name: 'Opening hours',
        description: 'Answers when the desk is closed',
        type: 'simple',
        flowSchema: FlowVersionRecord.example.flowSchema,
      },
      output: FlowRecord.example,
    },
  },
  http: post('/v1/projects/:projectId/flows', 201),
  access: { scope: 'flows:write', subject: { entity: project, parameter: 'projectId' } },
  input: t.intersection([
    t.type({ projectId: cuid, name: text({ min: 1, max: 200 }), flowSchema: json }),
    t.partial({
      description: nullable(text({ max: 5000 })),
      type: withDefault(FlowType, 'simple'),
      agentProfileId: nullable(cuid),
    }),
  ]),
  output: FlowRecord,
  failures: ['project-not-found', 'agent-profile-not-found'],
  entity: flow,
  loadRelated: async ({ agentProfileId }, { load }) =>
    agentProfileId ? (await load(projectAgentProfiles, agentProfileId)).state : null,
  creates: { id: (_, newIds) => newIds.id, isIdUsed: (state) => state !== null },
  decide: (input, _, { related: profiles, newIds: { id, suffix } }) => {
    const { projectId, name, flowSchema, description = null, type = 'simple', agentProfileId = null } = input;
    const refusal = agentProfileId === null ? null : checkAssignable(profiles, agentProfileId, projectId);
    if (refusal !== null) return E.left(refusal);
    const versionId = childId(id, suffix);
    return E.right([
      newEvent('FlowCreated', { id, projectId, name, type, description, tier: 'standard' as const, agentProfileId }),
      newEvent('FlowVersionCreated', { id: versionId, flowId: id, version: 1, tag: 'v1', flowSchema }),
      newEvent('FlowVersionActivated', { id: versionId, flowId: id, replacedVersionId: null }),
    ]);
  },
  answer: ({ state, dataAt }) => flowRecord(state, dataAt),
});
