import { entityHistory, quote } from '#domain/history/listed-event.ts';
import type { ResourceName } from '#domain/history/record.ts';
import { type AgentProfilesState, agentProfileRecord, projectAgentProfiles } from './agent-profile.ts';
import type { AgentProfileEvents } from './events.ts';

const named = (id: string): ResourceName => ({ kind: 'agent-profile', id });
const itself = ({ id }: { readonly id: string }): ResourceName => named(id);

export const agentProfileHistory = entityHistory<AgentProfilesState, AgentProfileEvents>({
  entity: projectAgentProfiles,
  events: {
    AgentProfileCreated: { resource: itself, summary: ({ name }) => `The agent profile ${quote(name)} was created.` },
    AgentProfileReplaced: { resource: itself, summary: ({ name }) => `The agent profile ${quote(name)} was replaced.` },
    AgentProfileRevised: { resource: itself, summary: ({ name }) => `The agent profile ${quote(name)} was revised.` },
    AgentProfileDefaultMoved: {
      resource: itself,
      other: ({ previousId }) => (previousId === null ? null : named(previousId)),
      summary: ({ id, previousId }) =>
        previousId === null
          ? `The agent profile ${id} became the default.`
          : `The agent profile ${id} became the default instead of ${previousId}.`,
    },
    AgentProfileDeleted: { resource: itself, summary: () => 'The agent profile was deleted.' },
  },
  record: async (state, { id }, { dataAt }) =>
    projectAgentProfiles.isLive(state, id) ? agentProfileRecord(state, id, dataAt) : null,
});
