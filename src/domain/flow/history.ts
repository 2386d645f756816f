import { entityHistory, quote } from '#domain/history/listed-event.ts';
import type { ResourceName } from '#domain/history/record.ts';
import type { FlowEvents } from './events.ts';
import { type FlowState, flow, flowRecord, flowVersion, flowVersionRecord } from './flow.ts';

const itself = ({ id }: { readonly id: string }): ResourceName => ({ kind: 'flow', id });
const version = ({ id }: { readonly id: string }): ResourceName => ({ kind: 'flow-version', id });

/** The history of a flow and of its versions. */
export const flowHistory = entityHistory<FlowState, FlowEvents>({
  entity: flow,
  events: {
    FlowCreated: { resource: itself, summary: ({ name }) => `The flow ${quote(name)} was created.` },
    FlowRenamed: { resource: itself, summary: ({ name }) => `The flow was renamed to ${quote(name)}.` },
    FlowDescribed: {
      resource: itself,
      summary: ({ description }) =>
        description === null ? 'The description of the flow was removed.' : 'The flow got another description.',
    },
    FlowTypeChanged: { resource: itself, summary: ({ type }) => `The flow became a ${type} flow.` },
    FlowTierChanged: { resource: itself, summary: ({ tier }) => `The flow was put on the tier ${tier}.` },
    FlowAgentProfileAssigned: {
      resource: itself,
      summary: ({ agentProfileId }) =>
        agentProfileId === null
          ? 'The agent profile of the flow was unassigned.'
          : `The agent profile ${agentProfileId} was assigned to the flow.`,
    },
    FlowDeleted: { resource: itself, summary: () => 'The flow was deleted, with its versions.' },
    FlowVersionCreated: {
      resource: version,
      summary: ({ version: number, restoredFrom }, state) =>
        restoredFrom === undefined
          ? `Version ${number} was added.`
          : `Version ${number} was restored from ${nameOf(restoredFrom, state)}.`,
    },
    FlowVersionTagged: {
      resource: version,
      summary: ({ id, tag }, state) => `${capitalized(nameOf(id, state))} was tagged ${quote(tag)}.`,
    },
    FlowVersionActivated: {
      resource: version,
      summary: ({ id, replacedVersionId }, state) => {
        const activated = `${capitalized(nameOf(id, state))} was activated`;
        return replacedVersionId === null
          ? `${activated}.`
          : `${activated} instead of ${nameOf(replacedVersionId, state)}.`;
      },
    },
    FlowVersionDeleted: {
      resource: version,
      summary: ({ id }, state) => `${capitalized(nameOf(id, state))} was deleted.`,
    },
  },
  record: async (state, { kind, id }, { dataAt }) => {
    if (kind === 'flow-version') return flowVersion.isLive(state, id) ? flowVersionRecord(state, id, dataAt) : null;
    return flow.isLive(state, id) ? flowRecord(state, dataAt) : null;
  },
});

function nameOf(versionId: string, state: FlowState): string {
  const known = state?.versions.get(versionId);
  return known === undefined ? `version ${versionId}` : `version ${known.version}`;
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
