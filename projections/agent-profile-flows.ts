import type { FlowEvents } from '#domain/flow/events.ts';
import { ignored, projection } from '#projection-engine/projection.ts';

/** That a flow once had an agent profile, whether it has it now or not. */
export interface AgentProfileFlowDocument {
  readonly agentProfileId: string;
  readonly flowId: string;
}

const pairId = (agentProfileId: string | null, flowId: string) =>
  agentProfileId === null ? [] : [`${agentProfileId}.${flowId}`];

/** Which flows ever had which agent profile: what is asked when a profile is to be shown as it was at a time. */
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
    FlowCreated: { create: ({ data }) => ({ agentProfileId: data.agentProfileId ?? '', flowId: data.id }) },
    FlowAgentProfileAssigned: (_, { data }) => ({ agentProfileId: data.agentProfileId ?? '', flowId: data.id }),
    FlowDeleted: ignored,
    FlowRenamed: ignored,
    FlowDescribed: ignored,
    FlowTypeChanged: ignored,
    FlowTierChanged: ignored,
    FlowVersionCreated: ignored,
    FlowVersionTagged: ignored,
    FlowVersionActivated: ignored,
    FlowVersionDeleted: ignored,
  },
  indexes: [['agentProfileId']],
});
