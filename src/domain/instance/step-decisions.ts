import * as E from 'fp-ts/lib/Either.js';
import { type AgentProfilesState, holdsContents, projectAgentProfiles } from '#domain/agent-profile/agent-profile.ts';
import type { AgentProfileEvents } from '#domain/agent-profile/events.ts';
import type { FlowEvents } from '#domain/flow/events.ts';
import type { FlowState } from '#domain/flow/flow.ts';
import type { EventOf } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { refersTo } from '#domain/shared/text-reference.ts';
import { type StoreEvents, type StoreState, storeDescribed, storeMade, storeRemoved } from '#domain/store/store.ts';
import type { Json } from '#shared/json/json.ts';
import type { InstanceAgentProfile, InstanceFlow, InstanceStore } from './resources.ts';
import type { Step } from './steps.ts';

/** The decided events; none if the step is already done, so that a repetition changes nothing. */
type Decided<Events> = E.Either<Failure, ReadonlyArray<EventOf<Events>>>;

type LiveFlow = NonNullable<FlowState>;

export interface FlowStep {
  readonly step: Step;
  readonly projectId: string;
  /** The flow in the operation before its commit point, else in the committed state. Null if the flow is removed. */
  readonly wanted: InstanceFlow | null;
  /** The flow in the committed state, to which undoing returns. */
  readonly base: InstanceFlow | null;
  readonly agentProfileId: string | null;
  /** The filled schema; only for `create` and `prepare`. */
  readonly flowSchema: Json;
}

/** Fails only before the commit point, and a failure is permanent. */
export function decideFlowStep(about: FlowStep, state: FlowState): Decided<FlowEvents> {
  switch (about.step.action) {
    case 'create':
      return createFlow(about, state);
    case 'prepare':
      return onLive(about, state, (live) => prepare(about, live));
    case 'activate':
      return onLive(about, state, (live) => activate(about, live));
    case 'adjust':
      return E.right(isLive(state) ? adjust(about, state) : []);
    case 'remove':
      return E.right(removeFlow(about, state));
    case 'restore':
      return E.right(isLive(state) ? restore(about, state) : []);
    case 'discard':
      return E.right(isLive(state) ? discard(about, state) : []);
  }
}

const isLive = (state: FlowState): state is LiveFlow => state !== null && !state.deleted;

function onLive(
  { step }: FlowStep,
  state: FlowState,
  decide: (live: LiveFlow) => Decided<FlowEvents>,
): Decided<FlowEvents> {
  return isLive(state) ? decide(state) : E.left(failure('flow-not-found', gone('flow', step.key)));
}

const gone = (what: string, key: string | null) =>
  `The ${what}${key === null ? '' : ` "${key}"`} was deleted while the operation ran. Try again: it is then created again.`;

function createFlow({ step, wanted, ...about }: FlowStep, state: FlowState): Decided<FlowEvents> {
  if (state !== null) return state.deleted ? E.left(failure('flow-not-found', gone('flow', step.key))) : E.right([]);
  const { id, versionId, name, type } = demanded(wanted, step);
  const { projectId, agentProfileId, flowSchema } = about;
  return E.right([
    flowCreated({ id, projectId, name, type, agentProfileId }),
    newEvent('FlowVersionCreated', { id: versionId, flowId: id, version: 1, tag: 'v1', flowSchema }),
    newEvent('FlowVersionActivated', { id: versionId, flowId: id, replacedVersionId: null }),
  ]);
}

function flowCreated(made: Pick<FlowEvents['FlowCreated'], 'id' | 'projectId' | 'name' | 'type' | 'agentProfileId'>) {
  return newEvent('FlowCreated', { ...made, description: null, tier: 'standard' as const });
}

function prepare({ step, wanted, flowSchema }: FlowStep, state: LiveFlow): Decided<FlowEvents> {
  const { versionId } = demanded(wanted, step);
  const version = state.versions.get(versionId);
  if (version?.deleted) return E.left(failure('flow-version-not-found', gone('new version of the flow', step.key)));
  return E.right(version === undefined ? [nextVersion(state, versionId, flowSchema)] : []);
}

function nextVersion({ record, lastVersionNumber }: LiveFlow, id: string, flowSchema: Json) {
  const version = lastVersionNumber + 1;
  return newEvent('FlowVersionCreated', { id, flowId: record.id, version, tag: `v${version}`, flowSchema });
}

function activate({ step, wanted }: FlowStep, state: LiveFlow): Decided<FlowEvents> {
  const { versionId, type } = demanded(wanted, step);
  if (state.activeVersionId === versionId) return E.right([]);
  if (state.versions.get(versionId)?.deleted !== false) {
    return E.left(failure('flow-version-not-found', gone('new version of the flow', step.key)));
  }
  return E.right(switchTo(state, versionId, type));
}

function switchTo({ record, activeVersionId }: LiveFlow, id: string, type: InstanceFlow['type']) {
  return [
    ...(record.type === type ? [] : [newEvent('FlowTypeChanged', { id: record.id, type })]),
    newEvent('FlowVersionActivated', { id, flowId: record.id, replacedVersionId: activeVersionId }),
  ];
}

function adjust({ wanted, agentProfileId }: FlowStep, { record }: LiveFlow): ReadonlyArray<EventOf<FlowEvents>> {
  if (wanted === null) return [];
  const { id, agentProfileId: previousAgentProfileId } = record;
  const renamed = !refersTo(record.name, wanted.name);
  const assigned = agentProfileId !== null && agentProfileId !== previousAgentProfileId;
  const assignment = { id, agentProfileId, previousAgentProfileId, requestedAtRevision: null };
  return [
    ...(renamed ? [newEvent('FlowRenamed', { id, name: wanted.name })] : []),
    ...(assigned ? [newEvent('FlowAgentProfileAssigned', assignment)] : []),
  ];
}

function removeFlow({ step, projectId }: FlowStep, state: FlowState): ReadonlyArray<EventOf<FlowEvents>> {
  const { id, key } = step;
  if (state === null) {
    if (!step.contested) return [];
    const made = flowCreated({ id, projectId, name: key ?? '', type: 'simple', agentProfileId: null });
    return [made, newEvent('FlowDeleted', { id, agentProfileId: null })];
  }
  return state.deleted ? [] : [newEvent('FlowDeleted', { id, agentProfileId: state.record.agentProfileId })];
}

/** Activates the version that was active before, even one that was activated by hand. */
function restore({ step, base }: FlowStep, state: LiveFlow): ReadonlyArray<EventOf<FlowEvents>> {
  const version = state.versions.get(step.versionId ?? '');
  if (version === undefined || state.activeVersionId !== version.id) return [];
  const before = [version.replacedVersionId, base?.versionId].find(
    (id) => id != null && id !== version.id && state.versions.get(id)?.deleted === false,
  );
  // Both were deleted by hand meanwhile. The active version stays, and the flow shows as drifted.
  return before == null ? [] : switchTo(state, before, base?.type ?? state.record.type);
}

/** Removes the version even if it is active now. */
function discard(about: FlowStep, state: LiveFlow): ReadonlyArray<EventOf<FlowEvents>> {
  const { id: flowId, versionId, contested } = about.step;
  const id = versionId ?? '';
  const version = state.versions.get(id);
  const deletion = newEvent('FlowVersionDeleted', { id, flowId });
  if (version === undefined) return contested ? [nextVersion(state, id, null), deletion] : [];
  if (version.deleted) return [];
  const restored = restore(about, state);
  return state.activeVersionId === id && restored.length === 0 ? [] : [...restored, deletion];
}

function demanded(wanted: InstanceFlow | null, { key }: Step): InstanceFlow {
  if (wanted === null) throw new Error(`no flow "${key}" is wanted`);
  return wanted;
}

export function decideAgentProfileStep(
  {
    step,
    projectId,
    wanted,
  }: { readonly step: Step; readonly projectId: string; readonly wanted: InstanceAgentProfile | null },
  state: AgentProfilesState,
): Decided<AgentProfileEvents> {
  const { id, action, contested } = step;
  const now = state.profiles.get(id);
  const live = projectAgentProfiles.isLive(state, id);
  switch (action) {
    case 'create':
      if (wanted === null) throw new Error('no agent profile is wanted');
      if (live) return E.right([]);
      if (now !== undefined) return E.left(failure('agent-profile-not-found', gone('agent profile', null)));
      // No flows are requested, because new flows name the profile themselves.
      return E.right([newEvent('AgentProfileCreated', { ...wanted, projectId, flowIds: [] })]);
    case 'adjust':
      if (!live || now === undefined || wanted === null || holdsContents(now, wanted)) return E.right([]);
      return E.right([newEvent('AgentProfileRevised', wanted)]);
    case 'remove': {
      const deletion = newEvent('AgentProfileDeleted', { id });
      if (now === undefined && contested) {
        const blank = { name: '', supportedInputLanguages: [], reasoningMode: '', outputVoiceId: '', flowIds: [] };
        return E.right([newEvent('AgentProfileCreated', { id, projectId, ...blank }), deletion]);
      }
      // A profile that became the project's default is kept while the project has others.
      const isKept = state.defaultId === id && state.liveCount > 1;
      return E.right(live && !isKept ? [deletion] : []);
    }
    default:
      throw new Error(`no agent profile can ${action}`);
  }
}

export function decideStoreStep(
  {
    step,
    projectId,
    wanted,
  }: { readonly step: Step; readonly projectId: string; readonly wanted: InstanceStore | null },
  state: StoreState,
): Decided<StoreEvents> {
  const { id, key, action, contested } = step;
  switch (action) {
    case 'create': {
      if (wanted === null) throw new Error(`no store "${key}" is wanted`);
      if (state?.deleted) return E.left(failure('store-not-found', gone('store', key)));
      const { name, description } = wanted;
      return E.right(storeMade({ id, projectId, name, description }, state));
    }
    case 'adjust':
      return E.right(
        wanted === null ? [] : storeDescribed({ id, name: wanted.name, description: wanted.description }, state),
      );
    case 'remove': {
      if (state !== null || !contested) return E.right(storeRemoved(id, state));
      const made = storeMade({ id, projectId, name: key ?? '', description: null }, null);
      return E.right([...made, newEvent('StoreDeleted', { id })]);
    }
    default:
      throw new Error(`no store can ${action}`);
  }
}
