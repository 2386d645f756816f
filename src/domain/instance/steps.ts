import type { Resources } from './resources.ts';

/**
 * What a step does to one resource: `prepare` adds a flow's new version, `activate` activates it, `adjust` updates
 * names and the agent profile; `restore` and `discard` undo an activation and a preparation.
 */
export type StepAction = 'create' | 'prepare' | 'activate' | 'adjust' | 'remove' | 'restore' | 'discard';

/** One decision on one stream. */
export interface Step {
  readonly action: StepAction;
  readonly resource: 'flow' | 'agent-profile' | 'store';
  /** The key in the payload; null for the agent profile. */
  readonly key: string | null;
  readonly id: string;
  /** Only for a flow. */
  readonly versionId: string | null;
  /**
   * Set if another node may be creating the resource that this step removes. If it does not exist, the step creates and
   * deletes it, so that the late node finds it deleted.
   */
  readonly contested?: true;
}

/**
 * Steps that run at the same time, all of one kind. It is part of the meaning of `InstanceProgressed`: after the
 * finished steps, this many further steps may have begun.
 */
const stepsAtOnce = 8;

/** The next steps, all with one action and one kind of resource. */
export function nextSteps(steps: ReadonlyArray<Step>, done: number): ReadonlyArray<Step> {
  const [first, ...others] = steps.slice(done, done + stepsAtOnce);
  if (first === undefined) return [];
  const end = others.findIndex(({ action, resource }) => action !== first.action || resource !== first.resource);
  return [first, ...(end === -1 ? others : others.slice(0, end))];
}

/** First they create everything new, then they activate it. */
export function stepsToCommit(had: Resources | null, wanted: Resources): ReadonlyArray<Step> {
  const all = stepsOf(wanted);
  const before = idsOf(had);
  const isNew = ({ id }: Step) => !before.has(id);
  const isKept = ({ id }: Step) => before.has(id);
  return [
    ...all.agentProfile.filter(isNew).map(as('create')),
    ...all.flows.filter(isNew).map(as('create')),
    ...all.stores.filter(isNew).map(as('create')),
    ...all.flows.filter(isKept).map(as('prepare')),
    ...all.flows.filter(isKept).map(as('activate')),
  ];
}

/** They cannot fail permanently: they update kept resources and remove the rest. */
export function stepsFromCommit(had: Resources | null, wanted: Resources): ReadonlyArray<Step> {
  const all = stepsOf(wanted);
  const before = idsOf(had);
  const after = idsOf(wanted);
  const isKept = ({ id }: Step) => before.has(id);
  const leftOver = stepsToRemove(had).filter(({ id }) => !after.has(id));
  return [...[...all.agentProfile, ...all.stores, ...all.flows].filter(isKept).map(as('adjust')), ...leftOver];
}

export function stepsToRemove(had: Resources | null): ReadonlyArray<Step> {
  if (had === null) return [];
  const all = stepsOf(had);
  return [...all.flows, ...all.stores, ...all.agentProfile].map(as('remove'));
}

/**
 * Steps that undo finished steps and those that may have begun, the last one first.
 * @param done the number of finished steps
 */
export function stepsToUndo(steps: ReadonlyArray<Step>, done: number): ReadonlyArray<Step> {
  const begun = nextSteps(steps, done).map((step): Step => ({ ...step, contested: true }));
  return [...steps.slice(0, done), ...begun].reverse().flatMap((step) => {
    const action = opposites[step.action];
    return action === undefined ? [] : [{ ...step, action }];
  });
}

const opposites: Partial<Record<StepAction, StepAction>> = {
  create: 'remove',
  prepare: 'discard',
  activate: 'restore',
};

const as =
  (action: StepAction) =>
  (step: Step): Step => ({ ...step, action });

function stepsOf({ flows, agentProfile, stores }: Resources) {
  const about = (resource: Step['resource'], key: string | null, id: string, versionId: string | null): Step => ({
    action: 'create',
    resource,
    key,
    id,
    versionId,
  });
  return {
    flows: flows.map(({ key, id, versionId }) => about('flow', key, id, versionId)),
    agentProfile: agentProfile === null ? [] : [about('agent-profile', null, agentProfile.id, null)],
    stores: stores.map(({ key, id }) => about('store', key, id, null)),
  };
}

function idsOf(resources: Resources | null): ReadonlySet<string> {
  return new Set(resources === null ? [] : stepsToRemove(resources).map(({ id }) => id));
}
