import * as E from 'fp-ts/lib/Either.js';
import { projectAgentProfiles } from '#domain/agent-profile/agent-profile.ts';
import type { AgentProfileEvents } from '#domain/agent-profile/events.ts';
import type { FlowEvents } from '#domain/flow/events.ts';
import { type FlowState, flow } from '#domain/flow/flow.ts';
import { newEvent } from '#domain/shared/event.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { type ProcessTools, process, when } from '#process-engine/process.ts';
import { paginateAll } from '#read-store/paginate-all.ts';

type Live = NonNullable<FlowState>;

/** A request that is carried out flow by flow. */
interface Request {
  readonly agentProfileId: string;
  /**
   * The revision of the request's event in the stream of agent profiles. A flow that has carried out this one or a
   * later one is done.
   */
  readonly revision: number;
  readonly time: string;
}

/** An assignment as an event shows it. */
interface Assigned {
  readonly id: string;
  readonly agentProfileId: string | null;
}

const takeAwayIfDeleted = when<{ readonly data: Assigned }>(
  ({ data }) => data.agentProfileId !== null,
  ({ data }, tools) => takeAwayDeleted(data, tools),
);

/**
 * Assigns agent profiles to flows. The streams of flows own this relation, so a profile's request is carried out
 * there. A flow keeps an assignment that is newer than the request. No flow keeps a deleted profile.
 */
export const assignAgentProfiles = process<AgentProfileEvents & FlowEvents>({
  name: 'assign-agent-profiles',
  on: {
    AgentProfileCreated: when(
      ({ data }) => data.flowIds.length > 0,
      // Other flows of a new profile are assigned to it later.
      (event, tools) => assignAll(event.data.flowIds, requestIn(event), tools),
    ),
    AgentProfileReplaced: async (event, tools) => {
      const request = requestIn(event);
      await assignAll(event.data.flowIds, request, tools);
      await takeAwayOthers(new Set(event.data.flowIds), request, tools);
    },
    AgentProfileDeleted: ({ data, revision }, tools) => takeAwayAll(data.id, revision, tools),
    FlowCreated: takeAwayIfDeleted,
    FlowAgentProfileAssigned: takeAwayIfDeleted,
  },
});

function requestIn({
  data,
  revision,
  metadata,
}: Pick<RecordedEvent<string, { readonly id: string }>, 'data' | 'revision' | 'metadata'>): Request {
  return { agentProfileId: data.id, revision, time: metadata.time };
}

async function assignAll(flowIds: ReadonlyArray<string>, request: Request, tools: ProcessTools): Promise<void> {
  for (const flowId of flowIds) await assign(flowId, request.agentProfileId, request, tools);
}

/** Assigns the profile unless the flow has a newer assignment. */
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

async function takeAwayDeleted({ id: flowId, agentProfileId }: Assigned, tools: ProcessTools): Promise<void> {
  if (agentProfileId === null) return;
  const { state } = await tools.load(projectAgentProfiles, agentProfileId);
  // Requests from before the deletion may follow. This removal does not count as one of them.
  if (!projectAgentProfiles.isLive(state, agentProfileId)) await takeAway(flowId, agentProfileId, null, tools);
}

function takeAway(flowId: string, agentProfileId: string, revision: number | null, tools: ProcessTools): Promise<void> {
  return change(flowId, null, revision, ({ record }) => record.agentProfileId === agentProfileId, tools);
}

/** @param revision of the carried out event of the agent profiles */
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
