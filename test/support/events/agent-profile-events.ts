import type { AgentProfileEvents } from '#domain/agent-profile/events.ts';
import { newEvent } from '#domain/shared/event.ts';
import { ids } from './tenants.ts';

const contents = (change: Partial<AgentProfileEvents['AgentProfileCreated']>) =>
  ({
    id: ids.profile,
    projectId: ids.project,
    name: 'Receptionist',
    supportedInputLanguages: ['en', 'de'],
    reasoningMode: 'balanced',
    outputVoiceId: 'narrator',
    flowIds: [],
    ...change,
  }) satisfies AgentProfileEvents['AgentProfileCreated'];

export const profileCreated = (change: Partial<AgentProfileEvents['AgentProfileCreated']> = {}) =>
  newEvent('AgentProfileCreated', contents(change));

export const profileReplaced = (change: Partial<AgentProfileEvents['AgentProfileReplaced']> = {}) =>
  newEvent('AgentProfileReplaced', contents(change));

/** Replaces the contents, and keeps the default flag. */
export const profileRevised = (change: Partial<AgentProfileEvents['AgentProfileRevised']> = {}) => {
  const { flowIds: _, projectId: _project, ...revised } = contents(change);
  return newEvent('AgentProfileRevised', revised);
};

export const defaultMoved = (id: string, previousId: string | null) =>
  newEvent('AgentProfileDefaultMoved', { id, previousId });

export const profileDeleted = (id: string = ids.profile) => newEvent('AgentProfileDeleted', { id });
