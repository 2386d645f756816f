import type { FlowEvents } from '#domain/flow/events.ts';
import { newEvent } from '#domain/shared/event.ts';
import { ids } from './tenants.ts';

/** The id of a flow's n-th version in the examples. */
export const versionOf = (flowId: string, number: number) => `${flowId}version${number}`;

/** A flow is created. `begunFlow` adds its first version. */
export const flowCreated = (change: Partial<FlowEvents['FlowCreated']> = {}) =>
  newEvent('FlowCreated', {
    id: ids.flow,
    projectId: ids.project,
    name: 'Opening hours',
    type: 'simple' as const,
    description: 'Answers when the desk is closed',
    tier: 'standard' as const,
    agentProfileId: null,
    ...change,
  } satisfies FlowEvents['FlowCreated']);

/** A version is created, for example `version3` with tag `v3`. */
export const versionCreated = (number: number, flowId: string = ids.flow) =>
  newEvent('FlowVersionCreated', {
    id: versionOf(flowId, number),
    flowId,
    version: number,
    tag: `v${number}`,
    flowSchema: { say: `hello ${number}` },
  });

/** A version is activated in place of another one, or as the first. */
export const versionActivated = (number: number, replaced: number | null, flowId: string = ids.flow) =>
  newEvent('FlowVersionActivated', {
    id: versionOf(flowId, number),
    flowId,
    replacedVersionId: replaced === null ? null : versionOf(flowId, replaced),
  });

export const versionDeleted = (number: number, flowId: string = ids.flow) =>
  newEvent('FlowVersionDeleted', { id: versionOf(flowId, number), flowId });

export const flowDeleted = (id: string = ids.flow, agentProfileId: string | null = null) =>
  newEvent('FlowDeleted', { id, agentProfileId });

/** An agent profile is assigned to the flow: on the flow's own request, or on the profile's at a revision. */
export const profileAssigned = (
  agentProfileId: string | null,
  previousAgentProfileId: string | null,
  requestedAtRevision: number | null = null,
  id: string = ids.flow,
) => newEvent('FlowAgentProfileAssigned', { id, agentProfileId, previousAgentProfileId, requestedAtRevision });

/** The events of the creation of a flow: the flow, its first version, and its activation. */
export const begunFlow = (change: Partial<FlowEvents['FlowCreated']> = {}) => {
  const created = flowCreated(change);
  return [created, versionCreated(1, created.data.id), versionActivated(1, null, created.data.id)];
};
