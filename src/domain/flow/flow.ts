import { Map as PersistentMap } from 'immutable';
import { type Entity, parentId, type Recorded, type RecordedEventOf } from '#domain/shared/entity.ts';
import { type DataAt, readReferencedText, referenceTo, type TextReference } from '#domain/shared/text-reference.ts';
import type { FlowEvents } from './events.ts';
import type { FlowRecord, FlowVersionRecord } from './record.ts';

export interface FlowFacts extends Omit<FlowRecord, 'name' | 'description'> {
  readonly name: TextReference;
  readonly description: TextReference;
}

/** The state of a version, whose schema stays in the event at `schemaRevision`. */
export interface FlowVersionState extends Pick<FlowVersionRecord, 'id' | 'version' | 'createdAt' | 'updatedAt'> {
  readonly tag: TextReference;
  readonly schemaRevision: number;
  readonly deleted: boolean;
  /** The version that its last activation has replaced; null without one. */
  readonly replacedVersionId: string | null;
}

/** A flow with its versions. Null before it was created. */
export type FlowState = {
  readonly record: FlowFacts;
  readonly deleted: boolean;
  readonly versions: PersistentMap<string, FlowVersionState>;
  readonly activeVersionId: string | null;
  readonly lastVersionNumber: number;
  /** The revision of the newest agent profiles' event that was applied here; -1 before the first. */
  readonly carriedOutRevision: number;
  /** The time of the last assignment by a request for this flow. Earlier requests of profiles no longer apply. */
  readonly assignedAt: string;
} | null;

type Live = NonNullable<FlowState>;

/** Estimated size of a version with its entry in the map. */
const bytesOfVersion = 640;

/** Each flow has one stream, with its versions. */
export const flow: Entity<FlowState, FlowEvents> = {
  category: 'flow',
  stateVersion: 1,
  initial: null,
  streamKey: (id) => id,
  everExisted: (state) => state !== null,
  isLive: (state) => state !== null && !state.deleted,
  estimateBytes: (state) => bytesOfVersion * (state?.versions.size ?? 0),
  notFound: 'flow-not-found',
  evolve: (state, event) => {
    if (event.type === 'FlowCreated') return created(event);
    return state && evolveFlow(state, event);
  },
};

/** A version is addressed by its own id, in the flow's stream and state. */
export const flowVersion: Entity<FlowState, FlowEvents> = {
  ...flow,
  streamKey: parentId,
  everExisted: (state, id) => state?.versions.has(id) === true,
  isLive: (state, id) => state !== null && !state.deleted && state.versions.get(id)?.deleted === false,
  notFound: 'flow-version-not-found',
};

function created({ data, revision, metadata: { time } }: Recorded<'FlowCreated', FlowEvents['FlowCreated']>): Live {
  const name = referenceTo(data.name, revision);
  const description = referenceTo(data.description, revision);
  return {
    record: { ...data, name, description, createdAt: time, updatedAt: time },
    deleted: false,
    versions: PersistentMap(),
    activeVersionId: null,
    lastVersionNumber: 0,
    carriedOutRevision: -1,
    assignedAt: time,
  };
}

function evolveFlow(state: Live, event: RecordedEventOf<FlowEvents>): Live {
  const { time } = event.metadata;
  switch (event.type) {
    case 'FlowCreated':
      return state;
    case 'FlowRenamed':
      return withRecord(state, { name: referenceTo(event.data.name, event.revision) }, time);
    case 'FlowDescribed':
      return withRecord(state, { description: referenceTo(event.data.description, event.revision) }, time);
    case 'FlowTypeChanged':
      return withRecord(state, { type: event.data.type }, time);
    case 'FlowTierChanged':
      return withRecord(state, { tier: event.data.tier }, time);
    case 'FlowAgentProfileAssigned': {
      const { agentProfileId, requestedAtRevision } = event.data;
      const assigned = withRecord(state, { agentProfileId }, time);
      // Only the flow's own request sets this time, because a late assignment must not make the next request seem late
      // too.
      if (requestedAtRevision === null) return { ...assigned, assignedAt: time };
      return { ...assigned, carriedOutRevision: Math.max(state.carriedOutRevision, requestedAtRevision) };
    }
    case 'FlowDeleted':
      return { ...state, deleted: true };
    case 'FlowVersionCreated': {
      const { id, version } = event.data;
      const tag = referenceTo(event.data.tag, event.revision);
      const made = { id, version, tag, createdAt: time, updatedAt: time };
      const kept = { schemaRevision: event.revision, deleted: false, replacedVersionId: null };
      return { ...state, versions: state.versions.set(id, { ...made, ...kept }), lastVersionNumber: version };
    }
    case 'FlowVersionTagged':
      return withVersion(state, event.data.id, { tag: referenceTo(event.data.tag, event.revision), updatedAt: time });
    case 'FlowVersionActivated': {
      const { id, replacedVersionId } = event.data;
      const replaced = replacedVersionId === null ? state : withVersion(state, replacedVersionId, { updatedAt: time });
      return { ...withVersion(replaced, id, { updatedAt: time, replacedVersionId }), activeVersionId: id };
    }
    case 'FlowVersionDeleted':
      return withVersion(state, event.data.id, { deleted: true });
  }
}

function withRecord(state: Live, change: Partial<FlowFacts>, time: string): Live {
  return { ...state, record: { ...state.record, ...change, updatedAt: time } };
}

function withVersion(state: Live, id: string, change: Partial<FlowVersionState>): Live {
  const version = state.versions.get(id);
  if (version === undefined) return state;
  return { ...state, versions: state.versions.set(id, { ...version, ...change }) };
}

export function knownFlow(state: FlowState): NonNullable<FlowState> {
  if (state === null) throw new Error('this needs a flow that was created');
  return state;
}

/** The versions in the order of their numbers. */
export function liveVersions(state: FlowState): ReadonlyArray<FlowVersionState> {
  const versions = state?.versions.valueSeq().filter(({ deleted }) => !deleted) ?? [];
  return [...versions].sort((one, other) => one.version - other.version);
}

/** @param dataAt reads events of the flow's stream, which have name and description */
export async function flowRecord(state: FlowState, dataAt: DataAt): Promise<FlowRecord> {
  const { id, projectId, type, tier, agentProfileId, createdAt, updatedAt, ...texts } = knownFlow(state).record;
  const name = await readReferencedText<string>(texts.name, 'name', dataAt);
  const description = await readReferencedText(texts.description, 'description', dataAt);
  return { id, projectId, name, type, description, tier, agentProfileId, createdAt, updatedAt };
}

/** @param dataAt reads events of the flow's stream, which have tag and schema */
export async function flowVersionRecord(state: FlowState, id: string, dataAt: DataAt): Promise<FlowVersionRecord> {
  const version = state?.versions.get(id);
  if (!state || version === undefined) throw new Error('an answer about a flow version needs one');
  const { createdAt, updatedAt } = version;
  const isActive = state.activeVersionId === id;
  const made = (await dataAt(version.schemaRevision)) as unknown as FlowEvents['FlowVersionCreated'];
  const { flowSchema, restoredFrom } = made;
  const tag = await readReferencedText<string>(version.tag, 'tag', dataAt);
  const record = {
    id,
    flowId: parentId(id),
    version: version.version,
    tag,
    flowSchema,
    isActive,
    createdAt,
    updatedAt,
  };
  return restoredFrom === undefined ? record : { ...record, restoredFrom };
}
