import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { patch } from '#application/operations/operation.ts';
import { checkAssignable, projectAgentProfiles } from '#domain/agent-profile/agent-profile.ts';
import { cuid } from '#domain/codecs/id.ts';
import { flow, flowRecord, knownFlow } from '#domain/flow/flow.ts';
import { FlowRecord } from '#domain/flow/record.ts';
import { newEvent } from '#domain/shared/event.ts';
import { refersTo } from '#domain/shared/text-reference.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

export const updateFlow = command({
  about: {
    name: 'update_flow',
    summary: 'Change a flow',
    description: 'Absent members do not change; null clears a description or an agent profile.',
    group: 'Flows',
    example: { input: { name: 'Opening hours' }, output: FlowRecord.example },
  },
  http: patch('/v1/flows/:flowId'),
  access: { scope: 'flows:write', subject: { entity: flow, parameter: 'flowId' } },
  input: t.intersection([
    t.type({ flowId: cuid }),
    t.partial({
      name: text({ min: 1, max: 200 }),
      description: nullable(text({ max: 5000 })),
      agentProfileId: nullable(cuid),
    }),
  ]),
  output: FlowRecord,
  failures: ['flow-not-found', 'agent-profile-not-found'],
  entity: flow,
  loadRelated: async ({ agentProfileId }, { load }) =>
    agentProfileId ? (await load(projectAgentProfiles, agentProfileId)).state : null,
  decide: ({ flowId: id, name, description, agentProfileId }, state, { related: profiles }) => {
    const before = knownFlow(state).record;
    const refusal = agentProfileId ? checkAssignable(profiles, agentProfileId, before.projectId) : null;
    if (refusal !== null) return E.left(refusal);
    const previousAgentProfileId = before.agentProfileId;
    const assignment = { id, previousAgentProfileId, requestedAtRevision: null };
    return E.right([
      ...(name === undefined || refersTo(before.name, name) ? [] : [newEvent('FlowRenamed', { id, name })]),
      ...(description === undefined || refersTo(before.description, description)
        ? []
        : [newEvent('FlowDescribed', { id, description })]),
      ...(agentProfileId === undefined || agentProfileId === previousAgentProfileId
        ? []
        : [newEvent('FlowAgentProfileAssigned', { ...assignment, agentProfileId })]),
    ]);
  },
  answer: ({ state, dataAt }) => flowRecord(state, dataAt),
});
