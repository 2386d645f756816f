import { type Entity, withoutSuffix } from '#domain/entity.ts';
import type { AgentProfileEvents } from './events.ts';
import type { AgentProfileRecord } from './record.ts';

/** One agent profile; `flowIds` are those asked for last. */
export interface AgentProfileState {
  readonly record: AgentProfileRecord;
  readonly deleted: boolean;
  /** Of the last event that touched it. */
  readonly revision: number;
}

/** All agent profiles of a project, by id. */
export type AgentProfilesState = ReadonlyMap<string, AgentProfileState>;

/** A project's agent profiles: one stream, so that at most one is the default. */
export const agentProfiles: Entity<AgentProfilesState, AgentProfileEvents> = {
  category: 'agentProfiles',
  initial: new Map(),
  streamKey: withoutSuffix,
  knows: (state, id) => state.has(id),
  isLive: (state, id) => state.get(id)?.deleted === false,
  weigh: (state) => 2 * JSON.stringify([...state.values()]).length,
  revisionOf: (state, id) => state.get(id)?.revision ?? -1,
  notFound: 'agent-profile-not-found',
  evolve: (state, event) => {
    const { revision, metadata } = event;
    const touched = (id: string, change: Partial<AgentProfileRecord>) => {
      const before = state.get(id);
      if (before === undefined) return [];
      const record = { ...before.record, ...change, updatedAt: metadata.time };
      return [[id, { ...before, record, revision }]] as const;
    };
    switch (event.type) {
      case 'AgentProfileCreated': {
        const record = { ...event.data, isDefault: false, createdAt: metadata.time, updatedAt: metadata.time };
        return new Map(state).set(record.id, { record, deleted: false, revision });
      }
      case 'AgentProfileReplaced':
      case 'AgentProfileRevised':
        return new Map([...state, ...touched(event.data.id, event.data)]);
      case 'AgentProfileDefaultMoved': {
        const { id, previousId } = event.data;
        const previous = previousId === null ? [] : touched(previousId, { isDefault: false });
        return new Map([...state, ...previous, ...touched(id, { isDefault: true })]);
      }
      case 'AgentProfileDeleted': {
        const before = state.get(event.data.id);
        return before === undefined ? state : new Map(state).set(event.data.id, { ...before, deleted: true, revision });
      }
    }
  },
};

/** The profiles that are there now. */
export function liveAgentProfiles(state: AgentProfilesState): ReadonlyArray<AgentProfileState> {
  return [...state.values()].filter(({ deleted }) => !deleted);
}

/** The record of a profile from its project's state. */
export function agentProfileRecord(state: AgentProfilesState, id: string): AgentProfileRecord {
  const profile = state.get(id);
  if (profile === undefined) throw new Error('an answer about an agent profile needs one');
  return profile.record;
}
