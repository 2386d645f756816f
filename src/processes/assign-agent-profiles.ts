import * as E from 'fp-ts/lib/Either.js';
import { agentProfiles } from '#domain/agent-profile/agent-profile.ts';
import type { AgentProfileEvents } from '#domain/agent-profile/events.ts';
import type { FlowEvents } from '#domain/flow/events.ts';
import { type FlowState, flow } from '#domain/flow/flow.ts';
import type { RecordedEventOf } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import { paginateAll } from '#process-engine/paginate-all.ts';
import type { Process, ProcessTools } from '#process-engine/process.ts';

type Event = RecordedEventOf<
  Pick<AgentProfileEvents, 'AgentProfileCreated' | 'AgentProfileReplaced' | 'AgentProfileDeleted'> &
    Pick<FlowEvents, 'FlowCreated' | 'FlowAgentProfileAssigned'>
>;

type Live = NonNullable<FlowState>;

/** An agent profile's request, carried out flow by flow. */
interface Request {
  readonly agentProfileId: string;
  /** The event's in the stream of agent profiles: a flow that carried it out, or a later one, is done. */
  readonly revision: number;
  readonly time: string;
}

/**
 * The flows own the relation between flows and agent profiles. What a profile asks for is carried to their streams;
 * what was assigned to a flow after it was asked stays. No flow keeps a deleted profile.
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
        // Whatever has a new profile besides was assigned to it later.
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

/** Gives a flow the profile, or none, unless that came too late. */
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
  // Requests made before the deletion may still be to come: none of them counts as carried out by this.
  if (!agentProfiles.isLive(state, agentProfileId)) await takeAway(flowId, agentProfileId, null, tools);
}

function takeAway(flowId: string, agentProfileId: string, revision: number | null, tools: ProcessTools): Promise<void> {
  return change(flowId, null, revision, ({ record }) => record.agentProfileId === agentProfileId, tools);
}

/** @param revision of the agent profiles' event that is carried out; null where it is none */
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
