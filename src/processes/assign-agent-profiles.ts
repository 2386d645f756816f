import * as E from 'fp-ts/lib/Either.js';
import { agentProfiles } from '#domain/agent-profile/agent-profile.ts';
import type { AgentProfileEvents } from '#domain/agent-profile/events.ts';
import type { FlowEvents } from '#domain/flow/events.ts';
import { type FlowState, flow } from '#domain/flow/flow.ts';
import type { RecordedEventOf } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import type { Process, ProcessTools } from '#process-engine/process.ts';
import { paginateAll } from '#read-store/paginate-all.ts';

type Event = RecordedEventOf<
  Pick<AgentProfileEvents, 'AgentProfileCreated' | 'AgentProfileReplaced' | 'AgentProfileDeleted'> &
    Pick<FlowEvents, 'FlowCreated' | 'FlowAgentProfileAssigned'>
>;

type Live = NonNullable<FlowState>;

/** The request of an agent profile, which is carried out flow by flow. */
interface Request {
  readonly agentProfileId: string;
  /**
   * The revision of the request's event in the stream of agent profiles. A flow that has carried out this one or a
   * later one is done.
   */
  readonly revision: number;
  readonly time: string;
}

/**
 * Assigns agent profiles to flows. The streams of flows own this relation, so a profile's request is carried out
 * there. A flow keeps an assignment that is newer than the request. No flow keeps a deleted profile.
 */
export const assignAgentProfiles: Process = {
  name: 'assign-agent-profiles',
  types: [
    'AgentProfileCreated',
    'AgentProfileReplaced',
    'AgentProfileDeleted',
    'FlowCreated',
    'FlowAgentProfileAssigned',
  ],
  handles: ({ type, data }) => (type === 'AgentProfileCreated' ? !isEmpty(data.flowIds) : data.agentProfileId !== null),
  handle: async (recorded, tools) => {
    const event = recorded as unknown as Event;
    switch (event.type) {
      case 'AgentProfileCreated':
      case 'AgentProfileReplaced': {
        const { id: agentProfileId, flowIds } = event.data;
        const request = { agentProfileId, revision: event.revision, time: event.metadata.time };
        for (const flowId of flowIds) await assign(flowId, agentProfileId, request, tools);
        // Other flows of a new profile were assigned to it later.
        if (event.type === 'AgentProfileReplaced') await takeAwayOthers(new Set(flowIds), request, tools);
        return;
      }
      case 'AgentProfileDeleted':
        return takeAwayAll(event.data.id, event.revision, tools);
      case 'FlowCreated':
      case 'FlowAgentProfileAssigned':
        return takeAwayDeleted(event.data.id, event.data.agentProfileId, tools);
    }
  },
};

const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;

/** Assigns the profile, or none, to a flow, unless the flow has a newer assignment. */
function assign(flowId: string, wanted: string | null, request: Request, tools: ProcessTools): Promise<void> {
  const due = (state: Live) => state.carriedOutRevision < request.revision && state.assignedAt <= request.time;
  return change(flowId, wanted, request.revision, due, tools);
}

async function takeAwayOthers(kept: ReadonlySet<string>, request: Request, tools: ProcessTools): Promise<void> {
  const documents = await tools.documentsUpToDate('flows');
  const { agentProfileId } = request;
  for await (const page of paginateAll(documents, 'flows', { agentProfileId })) {
    for (const { id } of page) if (!kept.has(id)) await assign(id, null, request, tools);
  }
}

async function takeAwayAll(agentProfileId: string, revision: number, tools: ProcessTools): Promise<void> {
  const documents = await tools.documentsUpToDate('flows');
  for await (const page of paginateAll(documents, 'flows', { agentProfileId })) {
    for (const { id } of page) await takeAway(id, agentProfileId, revision, tools);
  }
}

async function takeAwayDeleted(flowId: string, agentProfileId: string | null, tools: ProcessTools): Promise<void> {
  if (agentProfileId === null) return;
  const { state } = await tools.load(agentProfiles, agentProfileId);
  // Requests from before the deletion may follow. This removal does not count as one of them.
  if (!agentProfiles.isLive(state, agentProfileId)) await takeAway(flowId, agentProfileId, null, tools);
}

function takeAway(flowId: string, agentProfileId: string, revision: number | null, tools: ProcessTools): Promise<void> {
  return change(flowId, null, revision, ({ record }) => record.agentProfileId === agentProfileId, tools);
}

/** @param revision of the carried out event of the agent profiles; null if there is none */
function change(
  id: string,
  agentProfileId: string | null,
  revision: number | null,
  due: (state: Live) => boolean,
  { write }: ProcessTools,
): Promise<void> {
  return write({
    entity: flow,
    id,
    decide: ({ state }) => {
      if (state === null || state.deleted || state.record.agentProfileId === agentProfileId || !due(state)) {
        return E.right({ events: [], tenant: null });
      }
      const previousAgentProfileId = state.record.agentProfileId;
      const requestedAtRevision = revision ?? state.carriedOutRevision;
      const data = { id, agentProfileId, previousAgentProfileId, requestedAtRevision };
      return E.right({ events: [newEvent('FlowAgentProfileAssigned', data)], tenant: null });
    },
  });
}
