import { Map as PersistentMap } from 'immutable';
import type { FlowState } from '#domain/flow/flow.ts';
import { type Entity, parentId } from '#domain/shared/entity.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import {
  type DataAt,
  readReferencedText,
  referenceTo,
  refersTo,
  type TextReference,
} from '#domain/shared/text-reference.ts';
import type { AgentProfileEvents } from './events.ts';
import type { AgentProfileRecord } from './record.ts';

export type AgentProfileContents = Pick<
  AgentProfileRecord,
  'name' | 'supportedInputLanguages' | 'reasoningMode' | 'outputVoiceId'
>;

/** The state of a profile, whose contents stay in its events. */
export interface AgentProfileState {
  readonly contents: TextReference;
  /** The revision of the event with the flows that were requested last. */
  readonly flowIdsRevision: number;
  readonly isDefault: boolean;
  readonly deleted: boolean;
  /** The revision of the last event that touched it. */
  readonly revision: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface AgentProfilesState {
  /** The profiles by id, including deleted ones, because their ids must not be used again. */
  readonly profiles: PersistentMap<string, AgentProfileState>;
  readonly defaultId: string | null;
  /** The number of profiles that are not deleted. */
  readonly liveCount: number;
}

/** Estimated size of a profile with its entry in the map. */
const bytesOfProfile = 512;

/** The profiles of a project share one stream, so that at most one of them is the default. */
export const projectAgentProfiles: Entity<AgentProfilesState, AgentProfileEvents> = {
  category: 'agentProfiles',
  stateVersion: 1,
  initial: { profiles: PersistentMap(), defaultId: null, liveCount: 0 },
  streamKey: parentId,
  everExisted: ({ profiles }, id) => profiles.has(id),
  isLive: ({ profiles }, id) => profiles.get(id)?.deleted === false,
  estimateBytes: ({ profiles }) => bytesOfProfile * profiles.size,
  revisionOf: ({ profiles }, id) => profiles.get(id)?.revision ?? -1,
  notFound: 'agent-profile-not-found',
  evolve: (state, event) => {
    const { revision, metadata } = event;
    const updated = { revision, updatedAt: metadata.time };
    switch (event.type) {
      case 'AgentProfileCreated':
        return withProfile(state, event.data.id, {
          contents: contentsReference(event.data, revision),
          flowIdsRevision: revision,
          isDefault: false,
          deleted: false,
          revision,
          createdAt: metadata.time,
          updatedAt: metadata.time,
        });
      case 'AgentProfileReplaced': {
        const contents = contentsReference(event.data, revision);
        return changed(state, event.data.id, { ...updated, contents, flowIdsRevision: revision });
      }
      case 'AgentProfileRevised':
        return changed(state, event.data.id, { ...updated, contents: contentsReference(event.data, revision) });
      case 'AgentProfileDefaultMoved': {
        const { id, previousId } = event.data;
        const without = previousId === null ? state : changed(state, previousId, { ...updated, isDefault: false });
        return changed(without, id, { ...updated, isDefault: true });
      }
      case 'AgentProfileDeleted':
        return changed(state, event.data.id, { deleted: true, revision });
    }
  },
};

function changed(state: AgentProfilesState, id: string, change: Partial<AgentProfileState>): AgentProfilesState {
  const before = state.profiles.get(id);
  return before === undefined ? state : withProfile(state, id, { ...before, ...change });
}

function withProfile(state: AgentProfilesState, id: string, profile: AgentProfileState): AgentProfilesState {
  const wasLive = projectAgentProfiles.isLive(state, id);
  const { deleted, isDefault } = profile;
  const otherDefaultId = state.defaultId === id ? null : state.defaultId;
  return {
    profiles: state.profiles.set(id, profile),
    defaultId: isDefault && !deleted ? id : otherDefaultId,
    liveCount: state.liveCount + (deleted ? 0 : 1) - (wasLive ? 1 : 0),
  };
}

function contentsReference(contents: AgentProfileContents, revision: number): TextReference {
  return referenceTo(inOrder(contents), revision);
}

export function holdsContents({ contents }: AgentProfileState, wanted: AgentProfileContents): boolean {
  return refersTo(contents, inOrder(wanted));
}

const inOrder = ({ name, supportedInputLanguages, reasoningMode, outputVoiceId }: AgentProfileContents) => [
  name,
  supportedInputLanguages,
  reasoningMode,
  outputVoiceId,
];

function knownAgentProfile({ profiles }: AgentProfilesState, id: string): AgentProfileState {
  const profile = profiles.get(id);
  if (profile === undefined) throw new Error('this needs an agent profile that was created');
  return profile;
}

/**
 * The record, with the flows that were requested last.
 * @param dataAt reads events of the project's agent profiles, which have the contents
 */
export async function agentProfileRecord(
  state: AgentProfilesState,
  id: string,
  dataAt: DataAt,
): Promise<AgentProfileRecord> {
  const { contents, flowIdsRevision, isDefault, createdAt, updatedAt } = knownAgentProfile(state, id);
  const held = (await dataAt(contents.revision)) as unknown as AgentProfileContents;
  const { name, supportedInputLanguages, reasoningMode, outputVoiceId } = held;
  const flowIds = await readReferencedText<ReadonlyArray<string>>({ revision: flowIdsRevision }, 'flowIds', dataAt);
  return {
    id,
    projectId: parentId(id),
    name,
    supportedInputLanguages,
    reasoningMode,
    outputVoiceId,
    flowIds,
    isDefault,
    createdAt,
    updatedAt,
  };
}

/** Null if a flow can have the profile. @param profiles of the project that the id names */
export function checkAssignable(profiles: AgentProfilesState | null, id: string, projectId: string): Failure | null {
  const isThere = profiles !== null && projectAgentProfiles.isLive(profiles, id);
  if (isThere && parentId(id) === projectId) return null;
  return failure('agent-profile-not-found', `There is no agent profile ${id} in this project.`);
}

/** A flow that was requested, in the state of its stream. */
export interface RequestedFlow {
  readonly id: string;
  readonly state: FlowState;
}

export function checkRequestedFlows(flows: ReadonlyArray<RequestedFlow>, projectId: string): Failure | null {
  const foreign = flows.find(({ state }) => state === null || state.deleted || state.record.projectId !== projectId);
  return foreign === undefined ? null : failure('flow-not-found', `There is no flow ${foreign.id} in this project.`);
}
