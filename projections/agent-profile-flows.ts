import { type FlowEvents, flowFieldEvents } from '#domain/flow/events.ts';
import { handledAlike, ignored, projection } from '#projection-engine/projection.ts';

/** A flow that has or had the agent profile. */
export interface AgentProfileFlowDocument {
  readonly agentProfileId: string;
  readonly flowId: string;
}

const pairId = (agentProfileId: string | null, flowId: string) =>
  agentProfileId === null ? [] : [`${agentProfileId}.${flowId}`];

/** Shows which flows a profile had at a past time. */
export const agentProfileFlows = projection<AgentProfileFlowDocument, FlowEvents>({
  name: 'agent-profile-flows',
  version: 1,
  keys: (event) => {
    switch (event.type) {
      case 'FlowCreated':
      case 'FlowAgentProfileAssigned':
        return pairId(event.data.agentProfileId, event.data.id);
      default:
        return [];
    }
  },
  on: {
    ...handledAlike(flowFieldEvents, ignored),
    FlowCreated: { create: ({ data }) => ({ agentProfileId: data.agentProfileId ?? '', flowId: data.id }) },
    FlowAgentProfileAssigned: (_, { data }) => ({ agentProfileId: data.agentProfileId ?? '', flowId: data.id }),
    FlowDeleted: ignored,
    FlowVersionCreated: ignored,
    FlowVersionTagged: ignored,
    FlowVersionActivated: ignored,
    FlowVersionDeleted: ignored,
  },
  indexes: [['agentProfileId']],
});
