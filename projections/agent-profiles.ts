import type { AgentProfileEvents } from '#domain/agent-profile/events.ts';
import type { AgentProfileRecord } from '#domain/agent-profile/record.ts';
import { type FlowEvents, flowFieldEvents } from '#domain/flow/events.ts';
import { handledAlike, ignored, projection } from '#projection-engine/projection.ts';
import type { ClaimingDocument } from '#read-store/stored-document.ts';
import { changed, type TenantDocument, tenantOf } from './document.ts';

export interface AgentProfileDocument extends TenantDocument<AgentProfileRecord>, ClaimingDocument {
  /** The ids of its flows, and that of its project if it is the default. */
  readonly claims: string;
}

/**
 * The streams of flows say which flows it has; its own events only request them. An event of a flow does not change the
 * profile's revision.
 */
export const agentProfiles = projection<AgentProfileDocument, AgentProfileEvents & FlowEvents>({
  name: 'agent-profiles',
  version: 2,
  keys: (event) => {
    switch (event.type) {
      case 'AgentProfileDefaultMoved':
        return present(event.data.id, event.data.previousId);
      case 'FlowCreated':
      case 'FlowDeleted':
        return present(event.data.agentProfileId);
      case 'FlowAgentProfileAssigned':
        return present(event.data.agentProfileId, event.data.previousAgentProfileId);
      default:
        return [event.data.id];
    }
  },
  on: {
    ...handledAlike(flowFieldEvents, ignored),
    AgentProfileCreated: (_, { data, revision, metadata }) => ({
      claims: '',
      ...tenantOf(metadata),
      revision,
      record: { ...data, flowIds: [], isDefault: false, createdAt: metadata.time, updatedAt: metadata.time },
    }),
    AgentProfileReplaced: (document, event) => {
      const { flowIds: _, ...contents } = event.data;
      return changed(document, event, contents);
    },
    AgentProfileRevised: (document, event) => changed(document, event, event.data),
    AgentProfileDefaultMoved: (document, event, id) => {
      const after = changed(document, event, { isDefault: id === event.data.id });
      return after && claiming(after);
    },
    AgentProfileDeleted: () => null,
    FlowCreated: (document, { data }) => withFlow(document, data.id),
    FlowAgentProfileAssigned: (document, { data }, id) =>
      id === data.agentProfileId ? withFlow(document, data.id) : withoutFlow(document, data.id),
    FlowDeleted: (document, { data }) => withoutFlow(document, data.id),
    FlowVersionCreated: ignored,
    FlowVersionTagged: ignored,
    FlowVersionActivated: ignored,
    FlowVersionDeleted: ignored,
  },
  indexes: [['projectId'], ['projectId', 'name']],
  disclaim: (document, lost) => {
    const { projectId, isDefault, flowIds } = document.record;
    const left = { isDefault: isDefault && !lost.has(projectId), flowIds: flowIds.filter((id) => !lost.has(id)) };
    return claiming({ ...document, record: { ...document.record, ...left } });
  },
  // A default and flows may move crosswise. Then the default is the one that no reader may miss.
  isWrittenFirst: ({ record }) => record.isDefault,
});

const present = (...ids: ReadonlyArray<string | null>) => ids.filter((id) => id !== null);

function withFlow(document: AgentProfileDocument | null, flowId: string): AgentProfileDocument | null {
  if (document === null || document.record.flowIds.includes(flowId)) return document;
  return claiming({ ...document, record: { ...document.record, flowIds: [...document.record.flowIds, flowId] } });
}

function withoutFlow(document: AgentProfileDocument | null, flowId: string): AgentProfileDocument | null {
  if (document === null) return null;
  const flowIds = document.record.flowIds.filter((id) => id !== flowId);
  return claiming({ ...document, record: { ...document.record, flowIds } });
}

/** Adds the claims that follow from the profile's record. */
function claiming(document: AgentProfileDocument): AgentProfileDocument {
  const { projectId, isDefault, flowIds } = document.record;
  return { ...document, claims: [...(isDefault ? [projectId] : []), ...flowIds].join(' ') };
}
