import type { Resources } from './resources.ts';

/**
 * What a step does to one resource: `prepare` adds a flow's new version, `activate` makes it the active one, `adjust`
 * brings names and the agent profile in line; `restore` and `discard` undo an activation and a preparation.
 */
export type StepAction = 'create' | 'prepare' | 'activate' | 'adjust' | 'remove' | 'restore' | 'discard';

/** One step of an operation: one decision on one stream. */
export interface Step {
  readonly action: StepAction;
  readonly resource: 'flow' | 'agent-profile' | 'store';
  /** The payload's key; null for the agent profile. */
  readonly key: string | null;
  readonly id: string;
  /** Of a flow: the version that the step is about. */
  readonly versionId: string | null;
  /**
   * Somebody may be about to make what this step takes away: where there is nothing yet, the place is taken, so that
   * who comes late finds it gone.
   */
  readonly contested?: true;
}

/**
 * Steps worked on at once, at most, all of one kind. Part of what `InstanceProgressed` means: of the steps behind those
 * that are done, so many may have been begun.
 */
const stepsAtOnce = 8;

/** The steps to work on now: of one action and one sort of resource. */
export function nextSteps(steps: ReadonlyArray<Step>, done: number): ReadonlyArray<Step> {
  const [first, ...others] = steps.slice(done, done + stepsAtOnce);
  if (first === undefined) return [];
  const end = others.findIndex(({ action, resource }) => action !== first.action || resource !== first.resource);
  return [first, ...(end === -1 ? others : others.slice(0, end))];
}

/** The steps before the commit point: everything new beside what is there, then the switch. */
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

/** The steps behind it, which cannot fail for good: what was kept is brought in line, what is left over goes. */
export function stepsFromCommit(had: Resources | null, wanted: Resources): ReadonlyArray<Step> {
  const all = stepsOf(wanted);
  const before = idsOf(had);
  const after = idsOf(wanted);
  const isKept = ({ id }: Step) => before.has(id);
  const leftOver = stepsToRemove(had).filter(({ id }) => !after.has(id));
  return [...[...all.agentProfile, ...all.stores, ...all.flows].filter(isKept).map(as('adjust')), ...leftOver];
}

/** The steps that take away all that there is. */
export function stepsToRemove(had: Resources | null): ReadonlyArray<Step> {
  if (had === null) return [];
  const all = stepsOf(had);
  return [...all.flows, ...all.stores, ...all.agentProfile].map(as('remove'));
}

/**
 * The steps that undo those done, and those that may have been begun, the last one first.
 * @param done how many of the steps are done
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
